// Where in Python a call is made.
#ifndef INSPECTOR_SITES_H
#define INSPECTOR_SITES_H

#include "event.h"

// Writes code and lasti of the user's own line that runs now. Needs the GIL.
void sites_locate(event *record);
// Whether the Python function that runs now is the standard library's own. Needs the GIL.
int sites_is_of_stdlib(void);
// Lets go of what was learned of file names. Needs the GIL.
void sites_forget(void);

#endif
