// What a view of memory knows before Python is asked: libraries' data, C stacks, and malloc.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "search/holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>

#define STATICS_MAX 4096u
#define STACKS_MAX 1024u

static int add_statics(struct dl_phdr_info *image, size_t size, void *argument) {
    search_view *view = argument;
    for (int i = 0; i < image->dlpi_phnum && view->static_count < STATICS_MAX; i++) {
        const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W) {
            uintptr_t start = image->dlpi_addr + segment->p_vaddr;
            scan_range range = {start, start + segment->p_memsz};
            static char own; // where this variable is, the extension's own data is
            if ((uintptr_t)&own >= range.start && (uintptr_t)&own < range.stop) {
                view->own_statics = range;
            }
            view->statics[view->static_count++] = range;
        }
    }
    return 0;
}

// Stack pointer of a thread that waits in the kernel (proc_pid_syscall(5)); 0 while it runs.
static uintptr_t stack_pointer_of(const char *task) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/syscall", task);
    _close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, line, sizeof line - 1);
    if (length <= 0) {
        return 0;
    }
    line[length] = 0;
    unsigned long long stack = 0;
    const char *last = strrchr(line, ' '); // "... stack-pointer program-counter"
    while (last && last > line && last[-1] != ' ') {
        last--;
    }
    return last && sscanf(last, "%llx", &stack) == 1 ? (uintptr_t)stack : 0;
}

// The C stacks: a row [stack pointer, end of its mapping) each.
static void add_stacks(search_view *view) {
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    while (tasks && (entry = readdir(tasks)) && view->stack_count < STACKS_MAX) {
        uintptr_t pointer = entry->d_name[0] == '.' ? 0 : stack_pointer_of(entry->d_name);
        const memory_map *map = pointer ? memory_maps_find(&view->maps, pointer) : NULL;
        if (map) {
            view->stacks[view->stack_count++] = (scan_range){pointer, map->stop};
        }
    }
    if (tasks) {
        closedir(tasks);
    }
}

int search_view_memory(search_view *ret, const scan_runs *runs, scratch *memory) {
    ret->runs = runs;
    ret->threadless = (scan_range){0, 0};
    ret->statics = scratch_alloc(memory, STATICS_MAX * sizeof *ret->statics);
    ret->stacks = scratch_alloc(memory, STACKS_MAX * sizeof *ret->stacks);
    if (!ret->statics || !ret->stacks) {
        return -1;
    }
    dl_iterate_phdr(add_statics, ret);
    add_stacks(ret);
    malloc_view_init(&ret->malloc, &ret->maps, runs);
    return 0;
}
