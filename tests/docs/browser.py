#!/usr/bin/env python3
"""Opens the pages in a headless browser, types into the search box, follows the first result, and checks what
is shown. Each page must load without an error on the console.

Usage: browser.py HTML-FOLDER CHROMIUM [PICTURE-FOLDER]

It speaks the protocol of the developer tools through a pipe, messages with a NUL behind each.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

pages, chromium = Path(sys.argv[1]).resolve(), sys.argv[2]
pictures = Path(sys.argv[3]) if len(sys.argv) > 3 else None


class Browser:
    def __init__(self, folder):
        from_us, self.out = os.pipe()
        self.input, to_us = os.pipe()

        def pipes():  # the browser reads from descriptor 3 and writes to 4
            os.dup2(from_us, 103), os.dup2(to_us, 104)
            os.dup2(103, 3), os.dup2(104, 4)
        self.process = subprocess.Popen(
            [chromium, '--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe',
             '--window-size=1200,900', f'--user-data-dir={folder}'], preexec_fn=pipes, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us), os.close(to_us)
        self.number, self.rest, self.complaints, self.session = 0, b'', [], {}
        self.contexts = {}  # of frames, by their ids
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = {'sessionId': self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']}
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(domain + '.enable')

    def message(self):
        while b'\0' not in self.rest:
            some = os.read(self.input, 1 << 20)
            if not some:
                sys.exit('the browser has ended')
            self.rest += some
        text, _, self.rest = self.rest.partition(b'\0')
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        os.write(self.out, json.dumps({'id': self.number, 'method': method, 'params': parameters,
                                       **self.session}).encode() + b'\0')
        while (message := self.message()).get('id') != self.number:
            if message['method'] == 'Runtime.executionContextCreated':
                context = message['params']['context']
                self.contexts[context['auxData']['frameId']] = context['id']
            elif message['method'] == 'Runtime.exceptionThrown':
                # Doxygen's list of results looks at the page around it, which a browser refuses to files.
                if '/search/' not in message['params']['exceptionDetails'].get('url', ''):
                    self.complaints.append(json.dumps(message['params']))
            elif message['method'] == 'Log.entryAdded' and message['params']['entry']['level'] == 'error':
                self.complaints.append(json.dumps(message['params']))
        if 'error' in message and method != 'Runtime.evaluate':
            sys.exit(f'{method}: {message["error"]}')
        return message.get('result')

    def value(self, expression, frame=''):
        """The value in the page, or in a frame of it; None while there is no such frame."""
        where = {}
        if frame:
            frames = self.call('Page.getFrameTree')['frameTree'].get('childFrames', [])
            ids = [self.contexts.get(child['frame']['id']) for child in frames if child['frame'].get('name') == frame]
            if not ids or not ids[0]:
                return None
            where = {'contextId': ids[0]}
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True, **where)
        return result and result['result'].get('value')  # no result: the page or frame has just been replaced

    def wait(self, expression, what, frame=''):
        for _ in range(6000):
            if self.value(expression, frame):
                return
            time.sleep(0.1)
        sys.exit(f'not seen in ten minutes: {what}')

    def open(self, page):
        self.call('Page.navigate', url=(pages / page).as_uri())
        self.wait('document.readyState == "complete" && location.protocol == "file:"', page)

    def picture(self, name):
        if pictures:
            data = self.call('Page.captureScreenshot', format='png')['data']
            (pictures / f'{name}.png').write_bytes(base64.b64decode(data))


def search(browser, word, expected):
    """Types a word, as a person does, and follows the result."""
    browser.open('index.html')
    browser.wait('typeof searchBox == "object" && !!document.getElementById("MSearchField")', 'the search box')
    browser.value('document.getElementById("MSearchField").focus()')
    for letter in word:
        browser.call('Input.dispatchKeyEvent', type='keyDown', text=letter, key=letter)
        browser.call('Input.dispatchKeyEvent', type='keyUp', key=letter)
    result = ('[...document.querySelectorAll(".SRResult")].find(result => result.offsetParent && '
              f'result.querySelector(".SRSymbol").textContent.startsWith({json.dumps(word)}))')
    browser.wait(f'!!{result}', f'a result for {word}', 'MSearchResults')
    browser.picture(f'search-{word}')
    browser.value(f'{result}.querySelector("a[href*=html]").click()', 'MSearchResults')
    browser.wait(f'document.readyState == "complete" && document.body.innerText.includes({json.dumps(expected)})',
                 f'"{expected}" behind the result for {word}')
    browser.picture(f'found-{word}')
    print(f'{word}: found')


def main():
    # The browser may still write to it.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            count = 0
            for page in ('index.html', 'docs-schema.html', 'docs-cpu-sort.html', 'recsort_8h.html', 'device_8h.html'):
                browser.open(page)
                browser.wait('[...document.images].every(image => image.complete)', f'the pictures of {page}')
                broken = browser.value('[...document.images].filter(i => !i.naturalWidth).map(i => i.src)')
                if broken:
                    sys.exit(f'{page}: not shown: {broken}')
                browser.picture(page.removesuffix('.html'))
                count += 1
            search(browser, 'recsort_sort_to', 'Writes the sorted records to another array')
            search(browser, 'RECSORT_UNSORTED_RUN', 'a run to be merged is not sorted')
            if browser.complaints:
                sys.exit('\n'.join(browser.complaints))
            print(f'{count} pages, 2 searches: right')
        finally:
            browser.process.terminate()
            browser.process.wait()


main()
