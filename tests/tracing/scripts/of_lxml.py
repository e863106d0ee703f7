"""A tree of a text: attributes, elements found, and written again."""

# SPDX-License-Identifier: MIT
import told
from lxml import etree

rows = [f"<row n='{n}'>text of {n}</row>" for n in range(1000)]
root = etree.fromstring("<rows>" + "".join(rows) + "</rows>")
first = root[0].get("n")
text = root[7].text
found = root.findall("row")
packed = etree.tostring(root)
spelled = etree.tostring(root, encoding="unicode")

told.bytes_of(None, {"etree.tostring(root)": packed, 'etree.tostring(root, encoding="unicode")': spelled})
told.conversions('root[0].get("n")', "PyUnicode_AsUTF8String", "PyUnicode_DecodeUTF8")
told.called('root[0].get("n")', "lxml.etree._Element.get", first)
told.called('root.findall("row")', "lxml.etree._Element.findall", f"list of {len(found):,} _Element")
