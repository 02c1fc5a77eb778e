/**
 * A command for the host that asks its own scheduler whether it leads. Perl's
 * smallest package is part of every Debian; nothing has to be installed.
 */
const script = [
  "my ($host, $port) = @ARGV;",
  "my $s = IO::Socket::IP->new(PeerHost => $host, PeerPort => $port, Timeout => 3) or exit($!{ECONNREFUSED} ? 1 : 3);",
  'print $s "GET /metrics HTTP/1.0\\r\\n\\r\\n";',
  "while (<$s>) { exit($1 ? 0 : 1) if /^escapement_scheduler_leader (\\d)/ }",
  "exit 3;",
].join(" ");

/** Exit 0: it leads. 1: it does not, or no scheduler runs. Anything else: nobody knows. */
export function askScheduler(address: string, port: number): readonly string[] {
  return ["perl", "-MIO::Socket::IP", "-MErrno", "-e", script, address, String(port)];
}
