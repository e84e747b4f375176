"""`tara engine` at the other end of two pipes, as a client has it: both
protocols, and every transcript of docs/reference/protocol.md."""

import json
import random
import re
import resource
import signal
import subprocess
import unittest

PROGRAM = '$ tara engine'
# For the program, and for some hundred thousand simulations.
LITTLE_MEMORY = 250 << 20


class Engine:
    """A running engine. Ended, if it still runs, with its `with` block."""

    def __init__(self, *arguments, memory=resource.RLIM_INFINITY):
        self.process = subprocess.Popen(
            ['tara/cli/tara', 'engine', *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                  (memory, memory)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.close_input()
        self.process.stdout.close()

    def send(self, text):
        """Writes a text, or bytes. Nothing is read meanwhile."""
        data = text if isinstance(text, bytes) else text.encode()
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: its answers will miss

    def close_input(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def line(self):
        """Returns the next line without its end; None at the end."""
        line = self.process.stdout.readline()
        return line.decode(errors='replace').rstrip('\n') if line else None

    def answer(self):
        """Returns the lines of an answer of the line protocol, without the
        blank one that ends it."""
        return list(iter(lambda: self.line() or '', ''))

    def ask(self, line):
        self.send(line + '\n')
        return '\n'.join(self.answer())

    def wait(self):
        """Closes the input and returns the exit status, or minus the signal."""
        self.close_input()
        self.process.stdout.read()
        return self.process.wait()


class LineEngineTest(unittest.TestCase):

    def test_an_analysis_streams_until_the_next_line(self):
        with Engine() as engine:
            engine.send('1 analyze 1\n')
            self.assertEqual(engine.line(), '=1')
            # Without another line it would never end.
            for _ in range(3):
                self.assertRegex(engine.line(), '^root simulations ')
            engine.send('2 name\n')
            for line in engine.answer():
                self.assertRegex(line, '^root simulations ')
            self.assertEqual(engine.answer(), ['=2 Tara'])

    def test_quit_ends_it_while_the_input_is_open(self):
        with Engine() as engine:
            self.assertEqual(engine.ask('quit'), '=')
            self.assertIsNone(engine.line())
            self.assertEqual(engine.wait(), 0)

    def test_the_end_of_the_input_ends_it_after_what_was_asked(self):
        with Engine('--search', 'sims=50') as engine:
            engine.send('genmove\nanalyze\nplay')  # the last line has no end
            engine.close_input()
            self.assertRegex('\n'.join(engine.answer()), r'^= \w+$')
            self.assertGreater(len(engine.answer()), 1)
            self.assertRegex(engine.answer()[0], r'^\? play has 0')
            self.assertEqual(engine.wait(), 0)

    def test_no_search_outlives_the_input(self):
        """Searches that would take hours."""
        for search in ('sims=16000000', 'sims=16000000,gumbel=on', 'ms=3600000',
                       'sims=16000000,threads=2', 'sims=16000000,leaves=8'):
            for quits in (False, True):
                with self.subTest(search=search, quits=quits), Engine(
                        '--model', 'playouts', '--search', search) as engine:
                    engine.send('genmove\n')
                    if quits:
                        engine.send('quit\n')
                    else:
                        engine.close_input()
                    self.assertRegex('\n'.join(engine.answer()), r'^= \w+$')
                    self.assertEqual(engine.answer(), ['='] if quits else [])
                    self.assertEqual(engine.wait(), 0)

    def test_a_clock_does_not_keep_a_search_that_nobody_waits_for(self):
        with Engine('--model', 'playouts') as engine:
            engine.send('time_settings 360000 0\ngenmove\n')
            engine.close_input()
            self.assertEqual(engine.answer(), ['='])
            self.assertRegex('\n'.join(engine.answer()), r'^= \w+$')
            self.assertEqual(engine.wait(), 0)

    def test_the_end_of_the_input_does_not_change_short_searches(self):
        """What a script asks for by simulations it gets, though its input is at
        its end before the first of them."""
        arguments = ('--model', 'playouts', '--search', 'sims=100')
        with Engine(*arguments) as slow, Engine(*arguments) as engine:
            engine.send('genmove\nquit\n')
            engine.close_input()
            self.assertEqual(engine.answer(), [slow.ask('genmove')])

    def test_ends_at_once_when_nobody_reads(self):
        for protocol, request in (((), 'genmove\n'), (
            ('--json',), '{"id":1,"variant":"four_treasures"}\n')):
            with Engine('--model', 'playouts', '--search', 'sims=16000000',
                        *protocol) as engine:
                engine.send(request)
                engine.process.stdout.close()
                # Its input is still open.
                self.assertEqual(engine.process.wait(), -signal.SIGPIPE)

    def test_outlives_a_search_that_there_is_no_memory_for(self):
        for search in ('leaves=1', 'leaves=8', 'threads=2'):
            with self.subTest(search=search), Engine(
                    '--model', 'playouts', '--search', search,
                    memory=LITTLE_MEMORY) as engine:
                self.assertEqual(engine.ask('variant four_treasures'), '=')
                self.assertEqual(engine.ask('set_option sims 16000000'), '=')
                self.assertRegex(engine.ask('1 genmove'),
                                 r'^\?1 no memory for more simulations; ')
                self.assertEqual(engine.ask('2 name'), '=2 Tara')
                self.assertIn(
                    '\nerror no memory for more simulations; ',
                    engine.ask('3 analyze 100 simulations 16000000'))
                self.assertEqual(engine.ask('set_option sims 10'), '=')
                self.assertRegex(engine.ask('4 genmove'), '^=4 ')
                self.assertEqual(engine.wait(), 0)

    def test_several_threads_search_a_position(self):
        with Engine('--threads', '2', '--search', 'sims=300') as engine:
            self.assertRegex(engine.ask('genmove'), '^= ')
            self.assertRegex(engine.ask('analyze simulations 2000 actions 1'),
                             '^=\nroot simulations ')

    def test_lines_that_are_too_long_are_refused(self):
        with Engine() as engine:
            self.assertEqual(engine.ask('3 play ' + 'D' * (1 << 20)),
                             '?3 the line is too long')
            self.assertEqual(engine.ask('name'), '= Tara')

    def test_no_bytes_end_the_process(self):
        """Bytes of all values, with ends of lines and pieces of commands among
        them, but none that make "quit"."""
        pieces = [
            piece.encode()
            for piece in '\n|\r\n|play |D4|genmove|undo|variant |#|1 |C5*|=|'
            'analyze |-|9999|qui|set_position |ms|nan |sims|\t|high_kings_l1|'
            'time_settings |1e999'.split('|')
        ]
        draw = random.Random(1)

        def noise(size):
            data = b''
            while len(data) < size:
                data += draw.choice([draw.choice(pieces), draw.randbytes(1)])
            return data

        with Engine('--search', 'sims=2,ms=1') as engine:
            for turn in range(200):
                engine.send(noise(40) + b'x\n' + noise(8) + b'x\n')
                engine.send(f'4{turn} name\n')
                while (line := engine.line()) != f'=4{turn} Tara':
                    self.assertIsNotNone(line, f'ended in turn {turn}')
            self.assertEqual(engine.wait(), 0)

    def test_wrong_arguments_are_said_at_once(self):
        for status, arguments in (
            (2, '--variant chess'), (2, '--search sims=0'),
            (2, '--search sims=5,sims=6'), (1, '--model nowhere'),
            (2, '--search gumbel=on --threads 2')):
            with Engine(*arguments.split()) as engine:
                self.assertEqual(engine.wait(), status, arguments)


class JsonEngineTest(unittest.TestCase):

    def test_answers_while_the_input_is_open(self):
        with Engine('--json') as engine:
            engine.send('{"id":"x","variant":"poisoned_chalice",'
                        '"simulations":20}\n')
            answer = json.loads(engine.line())
            self.assertEqual((answer['id'], answer['simulations']), ('x', 20))

    def test_all_is_answered_before_it_ends(self):
        with Engine('--json', '--search', 'sims=30,positions=4') as engine:
            for i in range(40):
                engine.send(f'{{"id":{i},"variant":"four_treasures"}}\n')
            engine.close_input()
            answered = [json.loads(line)['id']
                        for line in iter(engine.line, None)]
            self.assertEqual(sorted(answered), list(range(40)))
            self.assertEqual(engine.wait(), 0)

    def test_outlives_a_search_that_there_is_no_memory_for(self):
        """The others that are searched in step with it are answered."""
        with Engine('--json', '--model', 'playouts', '--threads', '1',
                    memory=LITTLE_MEMORY) as engine:
            engine.send('{"id":"large","variant":"four_treasures",'
                        '"simulations":16000000}\n')
            for i in range(20):
                engine.send(f'{{"id":{i},"variant":"high_kings_l1",'
                            f'"simulations":{50 * i + 1}}}\n')
            for _ in range(21):
                answer = json.loads(engine.line())
                if answer['id'] == 'large':
                    self.assertIn('no memory for more simulations; ',
                                  answer['error'])
                else:
                    self.assertNotIn('error', answer)
            self.assertEqual(engine.wait(), 0)

    def test_lines_that_are_too_long_are_refused(self):
        with Engine('--json') as engine:
            engine.send(' ' * (2 << 20) + '\n')
            self.assertIn('error', json.loads(engine.line()))

    def test_no_bytes_end_the_process(self):
        """Requests, cut off or with bytes changed, moved or repeated."""
        requests = [
            b'{"id":"a","variant":"high_kings_l2","actions":["D4","B2"],'
            b'"turns":[0,1,2],"simulations":3,"report":["policy","margins"]}',
            b'{"id":1,"position":"sacred_hill_l1 5/7/7/3r3/7/7/5 1 manoeuvres '
            b'- 0,0 0 - -","time_ms":1,"search":{"graph":true,"c_puct":1e30}}',
            b'{"id":2,"variant":"stone_of_destiny","options":'
            b'{"link_all_at_end":false},"priority":5,"max_actions":2,'
            b'"report_every_ms":1,"simulations":2}',
            b'{"id":3,"command":"terminate","terminate_id":"a"}',
            b'{"id":4,"command":"terminate_all"}',
            b'{"id":5,"command":"clear_cache"}',
        ]
        draw = random.Random(1)

        def damaged(line):
            for _ in range(draw.randint(1, 4)):
                at = draw.randrange(len(line) + 1)
                line = draw.choice([
                    line[:at],
                    line[:at] + draw.randbytes(1) + line[at + 1:],
                    line[:at] + line[at // 2:][:10] + line[at:],
                    line[:at] + line[at + draw.randint(1, 5):],
                    line[:at] + draw.choice(b'{}[]",:0-e').to_bytes() +
                    line[at:],
                ])
            return line

        with Engine('--json', '--search', 'sims=2,ms=1,positions=4') as engine:
            for turn in range(300):
                for _ in range(3):
                    engine.send(damaged(draw.choice(requests)) + b'\n')
                engine.send(f'{{"id":"check{turn}",'
                            '"command":"query_version"}\n')
                while True:
                    line = engine.line()
                    self.assertIsNotNone(line, f'ended in turn {turn}')
                    if json.loads(line).get('name') == 'Tara':
                        break
                # What was damaged may ask for hours.
                engine.send('{"id":0,"command":"terminate_all"}\n')
            self.assertEqual(engine.wait(), 0)


def exchanges(lines):
    """Returns what is sent in a transcript, and the lines that come back,
    without those that say nothing."""
    found = []
    for line in lines:
        if line.startswith('> '):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line.rstrip())
    return found


def replay(transcript):
    """Returns what the engine answers in a transcript, and what it should."""
    first, *lines = transcript.split('\n')
    if not first.startswith(PROGRAM):
        return first, PROGRAM
    arguments = first[len(PROGRAM):].split()
    expected = exchanges(lines)
    with Engine(*arguments) as engine:
        if '--json' in arguments:  # answers come in any order
            for sent, _ in expected:
                engine.send(sent + '\n')
            engine.close_input()
            answers = sorted(iter(engine.line, None))
            return answers, sorted(sum((said for _, said in expected), []))
        answers = []
        for sent, _ in expected:
            engine.send(sent + '\n')
            said = [] if sent.startswith('#') else engine.answer()
            said = [line.rstrip() for line in said if line.strip()]
            # A busy machine may report on the way, too: the last report counts.
            while (len(said) > 1 and said[0].startswith('root simulations ') and
                   said[1].startswith('root simulations ')):
                del said[0]
            answers.append((sent, said))
        return (answers, engine.wait()), (expected, 0)


class ProtocolDocumentTest(unittest.TestCase):

    def setUp(self):
        with open('docs/reference/protocol.md', encoding='utf-8') as file:
            self.page = file.read()

    def test_every_transcript_replays(self):
        transcripts = re.findall('^```transcript\n(.*?)\n```$', self.page,
                                 re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(transcripts), 5)
        self.assertEqual(len(transcripts), self.page.count(f'\n{PROGRAM}'))
        for transcript in transcripts:
            with self.subTest(transcript):
                self.assertEqual(*replay(transcript))

    def test_every_command_is_described(self):
        table = self.page.split('| command |', 1)[1].split('\n\n', 1)[0]
        described = set(re.findall(r'^\| `(\w+)', table, re.MULTILINE))
        with Engine() as engine:
            known = engine.ask('list_commands')[2:].split('\n')
        self.assertEqual(described, set(known))

    def test_wrong_transcripts_are_found(self):
        self.assertEqual(*replay(f'{PROGRAM}\n> 1 name\n=1 Tara'))
        self.assertNotEqual(*replay(f'{PROGRAM}\n> 1 name\n=1 Rata'))
        self.assertNotEqual(*replay('> 1 name'))
