"""Style of the page: one sheet for the HTML panes, and the theme of the widgets."""

from __future__ import annotations

from surefit.lab.palette import BLUE, GREEN, ORANGE, SKY, VERMILION

SHEET = f"""
:host {{ font: 14px/1.5 Roboto, Helvetica, Arial, sans-serif; }}
a {{ color: inherit; }}
h2 {{ font-size: 17px; margin: 0 0 4px; }}
h3 {{ font-size: 13px; margin: 12px 0 2px; opacity: .75; font-weight: 600; }}
p {{ margin: 4px 0; }}
ul {{ margin: 4px 0 0; padding-left: 20px; }}
.caption {{ font-size: 15px; min-height: 23px; }}
.message {{ border-left: 4px solid {ORANGE}; padding: 6px 10px; }}
.lesson {{ border-left: 4px solid {BLUE}; padding: 6px 12px;
  background: rgba(0, 114, 178, .1); border-radius: 4px; }}
.legend {{ display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 12px; opacity: .85; }}
.legend i {{ display: inline-block; width: 20px; margin-right: 5px; vertical-align: middle; box-sizing: border-box; }}
.legend i.spot {{ width: 11px; height: 11px; border-radius: 50%; }}
.legend i.letter {{ width: 14px; font-style: normal; vertical-align: baseline; }}
.claim {{ display: flex; gap: 9px; padding: 5px 0; border-bottom: 1px solid rgba(128, 128, 128, .22); }}
.claim small {{ display: block; opacity: .6; font-size: 11px; overflow-wrap: anywhere; }}
.claim .mark {{ flex: 0 0 16px; text-align: center; font-weight: 700; }}
.claim.good .mark {{ color: {GREEN}; }}
.claim.open .mark, .claim.estimate .mark {{ color: {ORANGE}; }}
.claim.none {{ opacity: .75; }}
b {{ font-weight: 600; }}
.checker {{ margin-top: 8px; padding: 6px 10px; border-radius: 4px; background: rgba(0, 158, 115, .12); }}
.checker.bad {{ background: rgba(213, 94, 0, .18); color: {VERMILION}; }}
.theory {{ margin-top: 8px; }}
.quiet {{ opacity: .7; font-size: 12.5px; }}
pre {{ font: 12.5px/1.45 ui-monospace, Menlo, Consolas, monospace; overflow: auto; max-height: 320px; margin: 0; padding: 10px;
  background: rgba(128, 128, 128, .1); border-radius: 4px; }}
"""

HEADER = {"MuiAppBar": {"styleOverrides": {"root": {"backgroundColor": BLUE, "backgroundImage": "none"}}}}
THEME = {
    mode: {"palette": {"primary": {"main": color}}, "typography": {"fontSize": 13}, "components": HEADER}
    for mode, color in (("light", BLUE), ("dark", SKY))
}

#: The controls stand left of the picture, or below it where both do not fit.
LAST_IF_NARROW = "@media (max-width: 880px) { :host { order: 2; } }"
