"""Takes the pictures of docs/img anew: the report of the simulated demo, first screen and a case, in two languages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURES = Path(__file__).parent / "img"
CASE = "#suite=support&case=refund-shipping-fee"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def take(report: Path) -> None:
    """Pictures of one report, in both languages."""
    executable = next(path for path in map(shutil.which, BROWSERS) if path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for language, locale in (("en", "en-US"), ("zh", "zh-CN")):
            for name, address, height in (("report", "", 860), ("case", CASE, 1240)):
                viewport = {"width": 1280, "height": height}
                page = browser.new_page(viewport=viewport, locale=locale, color_scheme="light")
                page.goto(report.as_uri() + address)
                page.wait_for_selector("#case-heading" if address else "main article")
                page.screenshot(path=PICTURES / f"{name}.{language}.png")
                page.close()
        browser.close()


def main() -> None:
    """Runs the simulated demo in a temporary folder and takes pictures of its report."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "demo"
        command = [sys.executable, "-m", "promptreg", "demo", "--simulated", "--quiet", "--dir", str(project)]
        subprocess.run(command, check=True)  # noqa: S603 - our own command
        (report,) = (project / "reports").glob("*.html")
        take(report)


if __name__ == "__main__":
    main()
