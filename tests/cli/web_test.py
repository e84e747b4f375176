"""What `tara web` checks before the page's script takes over, what the script
gets, and how the page is served; web/tests has the page itself."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

TARA = os.path.abspath('tara/cli/tara')


class WebTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(
            tempfile.mkdtemp(dir=os.environ.get('TEST_TMPDIR')))

    def file(self, name, text='', executable=False):
        """Writes a file, and the folders above it. Returns its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if executable:
            path.chmod(0o700)
        return path

    def page(self, name='page', file='page.js'):
        """Returns the folder of a page for any web space."""
        self.file(f'{name}/assets/{file}', name)
        self.file(f'{name}/service-worker.js', name)
        return self.file(f'{name}/index.html', name).parent

    def served_page(self):
        return self.file('page/index.html', 'start').parent

    def run_folder(self, name='run'):
        """Returns the folder of a run without anything of use."""
        self.file(f'{name}/metrics.jsonl', '{"event": "note"}\n')
        return self.file(f'{name}/config.textproto', 'generations: 3\n').parent

    def clone(self):
        """Returns a clone of the project whose script says how it was
        called."""
        script = '#!/bin/sh\nprintf \'<%s>\' "$@"\nexit 7\n'
        return self.file('a clone/web/serve.sh', script, True).parents[1]

    def web(self, *arguments, root=None):
        return subprocess.run([TARA, 'web', *map(str, arguments)],
                              capture_output=True,
                              text=True,
                              env={**os.environ, 'TARA_ROOT': str(root or '')},
                              check=False)

    def expect_error(self, message, *arguments, root=None, status=1):
        result = self.web(*arguments, root=root)
        self.assertEqual((result.returncode, result.stdout), (status, ''))
        self.assertIn(message, result.stderr)

    def test_becomes_the_script_of_the_clone(self):
        model = self.file('my model.tara', 'PK')
        site = self.folder / 'my site'
        run = self.run_folder('a run')
        for arguments, words in (
            ([], '<--port><8045>'),
            (['--port', 0, '--model', model], f'<--model><{model}><--port><0>'),
            (['--export', site], f'<--export><{site}><--port><8045>'),
            (['--run', run], f'<--run><{run}><--port><8045>'),
            (['--run', run, '--run', run],
             f'<--run><{run}><--run><{run}><--port><8045>'),
        ):
            result = self.web(*arguments, root=self.clone())
            self.assertEqual((result.stdout, result.returncode), (words, 7))

    def test_replaces_an_earlier_export(self):
        one = self.page('one', 'one.js')
        two = self.page('two', 'two.js')
        site = self.folder / 'space/of/mine'  # the folders above it are made
        first = self.web('--page', one, '--export', site)
        self.assertIn('/space/of/mine\n', first.stdout)
        self.assertIn('python3 -m http.server', first.stdout)
        self.assertEqual((site / 'assets/one.js').read_text(), 'one')
        (site / 'CNAME').write_text('own')
        again = self.web('--page', two, '--export', site)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((site / 'index.html').read_text(), 'two')
        self.assertEqual((site / 'assets/two.js').read_text(), 'two')
        self.assertFalse((site / 'assets/one.js').exists())
        self.assertEqual((site / 'CNAME').read_text(), 'own')
        self.expect_error('is in the page itself', '--page', two, '--export',
                          two)
        self.assertEqual((two / 'assets/two.js').read_text(), 'two')

    def test_changes_no_folder_that_has_other_things(self):
        page = self.page()
        thesis = self.file('mine/thesis.txt', 'all of it')
        for place, message in (
            (thesis.parent,
             f'--export {thesis.parent}: has other files; expected'),
            (thesis, 'Not a directory'),
            (thesis / 'site', 'Not a directory')):
            self.expect_error(message, '--page', page, '--export', place)
            self.assertEqual(thesis.read_text(), 'all of it')

    def test_wrong_arguments_are_named(self):
        page = self.served_page()
        never = self.folder / 'never'
        clone = self.clone()
        run = self.run_folder()
        model = self.file('none.tara', 'PK')
        release = self.file('release/web/index.html').parents[1]
        self.file('release/models/none')
        empty = self.folder / 'empty'
        empty.mkdir()
        for root, status, message, arguments in (
            (None, 1, 'is not an exported page',
             ['--page', page, '--export', never]),
            (release, 1, 'clone of the project', ['--export', never]),
            (clone, 1, '--model nowhere/model.tara: no such',
             ['--model', 'nowhere/model.tara']),
            (clone, 1, 'not a run; expected a folder that',
             ['--run', self.folder]),
            (clone, 2, '--run cannot be combined with --export',
             ['--run', run, '--export', never]),
            (None, 1, '`bin/tara web`', []),
            ('/nowhere', 1, '`bin/tara web`', []),
            (None, 1, f'no built page in {empty}', ['--page', empty]),
            (None, 1, str(model),
             ['--page', page, '--model', model, '--port', 0]),
            (clone, 2, "--port: bad value '65536'", ['--port', 65536]),
        ):
            self.expect_error(message, *arguments, root=root, status=status)
        self.assertFalse(never.exists())

    def test_says_which_port_is_taken(self):
        with socket.create_server(('127.0.0.1', 0)) as taken:
            port = taken.getsockname()[1]
            self.expect_error(
                f'tara: port {port} is taken; try --port 0\n', '--page',
                self.served_page(), '--port', port)

    # --- `tara web` while it serves ------------------------------------------

    def serve(self, *arguments, cwd=None):
        server = subprocess.Popen(
            [TARA, 'web', '--port', '0', *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=cwd)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        for line in server.stdout:
            match = re.search(r'Play at http://localhost:(\d+)/', line)
            if match:
                self.port = int(match[1])
                return
        self.fail('it does not serve')

    def connect(self):
        return socket.create_connection(('127.0.0.1', self.port))

    def ask(self, request, host='localhost'):
        """Returns the whole answer to a request line, "GET /index.html"."""
        with self.connect() as connection:
            name = f'Host: {host}\r\n' if host else ''
            connection.sendall(
                f'{request} HTTP/1.1\r\n{name}'
                'Origin: http://evil.example\r\n\r\n'.encode())
            return b''.join(iter(lambda: connection.recv(4096), b'')).decode()

    def expect_status(self, status, request, host='localhost'):
        answer = self.ask(request, host)
        self.assertTrue(answer.startswith(f'HTTP/1.1 {status} '),
                        f'{request} of {host}: {answer}')
        return answer

    def test_sends_files_of_the_page_as_they_are_and_none_from_outside(self):
        """What anybody may put into a page: CivetWeb runs the first ones by
        default."""
        page = self.served_page()
        self.file('page/assets/a b.js', 'script')
        programs = {
            'x.shtml': '<!--#exec "echo ran" -->',
            'x.lua': "mg.write('ran')"
        }
        for name in ('x.cgi', 'x.pl', 'x.php'):
            programs[name] = '#!/bin/sh\necho; echo ran\n'
        for name, text in programs.items():
            self.file(f'page/{name}', text, executable=True)
        secret = self.file('secret/key.txt', 'secret\n')
        (page / 'link.txt').symlink_to(secret)
        (page / 'linked').symlink_to(secret.parent)
        (page / 'inner.html').symlink_to('index.html')
        self.serve('--page', page)
        for path in ('/', '/inner.html'):
            self.assertIn('\r\n\r\nstart', self.ask(f'GET {path}'))
        script = self.ask('GET /assets/a%20b.js')
        for part in ('\r\n\r\nscript', 'Content-Type: text/javascript',
                     'nosniff', "Content-Security-Policy: default-src 'none'"):
            self.assertIn(part, script)
        self.assertNotIn('Access-Control', script)
        for name, text in programs.items():
            self.assertTrue(self.ask(f'GET /{name}').endswith(text), name)
        for path in ('/link.txt', '/linked/key.txt', '/linked/', '/linked',
                     '/assets/', '/assets', '/none.js',
                     '/..%2fsecret%2fkey.txt'):
            answer = self.expect_status(404, f'GET {path}')
            self.assertNotIn('secret\n', answer)

    def test_answers_to_nothing_but_get_and_head(self):
        self.serve('--page', self.served_page(), '--run', self.run_folder())
        for path in ('/index.html', '/run/about.json', '/none'):
            head = self.ask(f'HEAD {path}')
            self.assertIn('\r\nContent-Length: ', head)
            self.assertTrue(head.endswith('\r\n\r\n'), head)
            for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND',
                           'MKCOL', 'PATCH'):
                self.expect_status(405, f'{method} {path}')

    def test_answers_only_to_names_of_this_machine(self):
        self.serve('--page', self.served_page(), '--run', self.run_folder())
        for host in ('localhost', 'LOCALHOST:80', f'127.0.0.1:{self.port}',
                     '[::1]', f'[::1]:{self.port}'):
            self.expect_status(200, 'GET /run/about.json', host)
        for host in ('evil.example', 'evil.example:8045',
                     'localhost.evil.example', '127.0.0.1.evil.example',
                     'localhost:80.evil.example', '[::2]', ''):
            for path in ('/', '/model.tara', '/run/about.json'):
                self.expect_status(403, f'GET {path}', host)

    def test_serves_on_without_its_working_folder_and_after_an_error(self):
        run = self.run_folder('folder/run')
        self.serve('--run', 'run', '--page', self.served_page(),
                   cwd=run.parent)
        self.assertIn('generations: 3', self.ask('GET /run/about.json'))
        shutil.rmtree(run.parent)
        self.assertIn('{"name":"run"', self.ask('GET /run/about.json'))
        self.assertIn('[]', self.ask('GET /run/games.json'))
        # A stream from a folder throws.
        (run / 'metrics.jsonl').mkdir(parents=True)
        self.expect_status(500, 'GET /run/metrics.jsonl')
        self.assertIn('start', self.ask('GET /'))

    def test_answers_while_many_connections_are_idle(self):
        self.serve('--page', self.served_page())
        idle = [self.connect() for _ in range(200)]
        for connection in idle[::2]:
            connection.sendall(b'GET / HT')  # some have begun to ask
        self.assertIn('start', self.ask('GET /'))
        # It did not wait for them to be given up.
        idle[-1].setblocking(False)
        with self.assertRaises(BlockingIOError):
            idle[-1].recv(1)
        for connection in idle:
            connection.close()
