"""HTML as GitHub leaves it: no style, class, id or script.

The elements and attributes are those of html-pipeline, which GitHub began:
https://github.com/gjtorikian/html-pipeline, lib/html_pipeline/sanitization_filter.rb
"""

# SPDX-License-Identifier: MIT
_TAGS = """
h1 h2 h3 h4 h5 h6 br b i strong em a pre code img tt div ins del sup sub p ol ul table thead tbody tfoot
blockquote dl dt dd kbd q samp var hr ruby rt rp li tr td th s strike summary details caption figure
figcaption abbr bdo cite dfn mark small span time wbr
"""
_ATTRIBUTES = """
abbr accept accept-charset accesskey action align alt aria-describedby aria-hidden aria-label aria-labelledby
axis border cellpadding cellspacing char charoff charset checked clear cols colspan color compact coords
datetime dir disabled enctype for frame headers height hreflang hspace ismap label lang maxlength media method
multiple name nohref noshade nowrap open progress prompt readonly rev role rows rowspan rules scope selected
shape size span start summary tabindex title type usemap valign value width itemprop
"""


def sanitised(html: str) -> str:
    """The fragment with everything gone that GitHub strips."""
    import nh3  # not everywhere the file is collected

    cleaned: str = nh3.clean(
        html,
        tags=set(_TAGS.split()),
        clean_content_tags={"script", "style"},
        attributes={"*": set(_ATTRIBUTES.split()), "a": {"href"}, "img": {"src"}},
    )
    return cleaned
