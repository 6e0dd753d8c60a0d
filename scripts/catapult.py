#!/usr/bin/env python3
"""Loads a Chrome JSON export in catapult's trace viewer, in headless Chromium.

Usage: scripts/catapult.py TRACE.json [-o SCREENSHOT.png [--range BEGIN END]]

Prints what the viewer's importer found as one JSON object: numbers of slices, arrows and counters, and its
warnings. The exit status is 1 when it warns or an arrow has no slice at an end. Needs Chromium, the
viewer's page of PyPI's `viztracer` (or --page FILE), and `webcomponents.js` 0.7.24 of npm (--polyfill
FILE), which that page was written for. What is absent is named, with exit status 77.
"""

import argparse
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77

PAGE = """<!DOCTYPE html>
<html><head><meta charset="utf-8">
<script>window.__hideTraceViewerPolyfillWarning = true;</script>
<script>{polyfill}</script>
{viewer}
<style>
html, body, #trace-viewer {{ margin: 0; width: 100%; height: 100%; overflow: hidden; }}
</style>
<script>
const text = {text};
function tell(answer) {{
  const place = document.createElement('script');
  place.type = 'text/answer';
  place.id = 'answer';
  place.textContent = JSON.stringify(answer);
  document.head.appendChild(place);
}}
function count(model) {{
  const answer = {{slices: 0, arrows: 0, loose: 0, counters: 0, warnings: []}};
  for (const event of model.getDescendantEvents()) {{
    if (event instanceof tr.model.ThreadSlice) answer.slices++;
  }}
  for (const arrow of model.flowEvents) {{
    answer.arrows++;
    if (!arrow.startSlice || !arrow.endSlice) answer.loose++;
  }}
  for (const process of model.getAllProcesses()) {{
    answer.counters += Object.keys(process.counters).length;
  }}
  answer.warnings = model.importWarnings.map(warning => warning.message);
  return answer;
}}
function draw(viewer) {{
  const range = {range};
  const viewport = viewer.trackView.viewport;
  const kinds = viewer.model.flowEvents.map(arrow => arrow.category);
  viewport.selectedFlowEvents = new Set(kinds);
  if (range) {{
    const transform = viewport.currentDisplayTransform.clone();
    transform.xSetWorldBounds(range[0], range[1], 1200);
    viewport.setDisplayTransformImmediately(transform);
  }}
}}
function show() {{
  try {{
    const model = new tr.Model();
    new tr.importer.Import(model).importTraces([text]);
    const container = document.createElement('track-view-container');
    container.id = 'track_view_container';
    const viewer = document.createElement('tr-ui-timeline-view');
    viewer.track_view_container = container;
    Polymer.dom(viewer).appendChild(container);
    viewer.id = 'trace-viewer';
    Polymer.dom(document.body).appendChild(viewer);
    viewer.model = model;
    tell(count(model));
    setTimeout(() => draw(viewer), 500);
  }} catch (error) {{
    tell({{error: String(error) + ' ' + error.stack}});
  }}
}}
document.addEventListener('WebComponentsReady', show);
</script></head><body></body></html>
"""


def skip(what):
    print(f"skipped: {what}", file=sys.stderr)
    sys.exit(SKIPPED)


def viewer_page(named):
    if named:
        return pathlib.Path(named)
    found = importlib.util.find_spec("viztracer")
    if found is None:
        skip("no package viztracer; --page names the viewer's page")
    return pathlib.Path(found.origin).parent / "html" / "trace_viewer_full.html"


def chromium(binary, page, *words):
    command = [
        binary,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1600,900",
        "--virtual-time-budget=60000",
        "--allow-file-access-from-files",
        *words,
        page.as_uri(),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("trace", type=pathlib.Path)
    words.add_argument("-o", "--output", type=pathlib.Path)
    words.add_argument("--range", nargs=2, type=float, help="milliseconds to show")
    words.add_argument("--page")
    words.add_argument("--polyfill", type=pathlib.Path)
    args = words.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next(filter(None, map(shutil.which, names)), None)
    if binary is None:
        skip("no Chromium")
    if args.polyfill is None:
        skip("--polyfill names no webcomponents.js 0.7.24")
    viewer = viewer_page(args.page).read_text()
    text = json.dumps(args.trace.read_text()).replace("</", "<\\/")
    page = PAGE.format(polyfill=args.polyfill.read_text(), viewer=viewer, text=text, range=json.dumps(args.range))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "page.html"
        file.write_text(page)
        done = chromium(binary, file, "--dump-dom")
        found = re.search(r'id="answer">(.*?)</script>', done.stdout, re.S)
        if found is None:
            sys.exit(f"the viewer said nothing: {done.stderr[-2000:]}")
        answer = json.loads(found.group(1))
        print(json.dumps(answer))
        if args.output:
            chromium(binary, file, f"--screenshot={args.output.resolve()}")
    return 1 if "error" in answer or answer["loose"] or answer["warnings"] else 0


if __name__ == "__main__":
    sys.exit(main())
