using System;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Muster;

/// Plays with a real Muster. `loopback.exe client URL TOKEN QUEUE` prints each state, and then the join token.
/// `loopback.exe server URL TOKEN` admits the join tokens that it reads, one per line, and ends the match after the
/// second one. `muster verify-server` starts `loopback.exe verify`. `loopback.exe relay ROLE HOST PORT SESSION USER`
/// is a peer of a relay: a host returns what it receives, and a client sends the lines that it reads. `loopback.exe
/// send URL TIMEOUT_MS COUNT` sends this number of requests at a time, and prints the status of each answer.
static class Loopback
{
#if UNITY_5_3_OR_NEWER
    static ITransport NewTransport() => new UnityTransport();
#else
    static ITransport NewTransport() => new HttpTransport();
#endif

    static int Main(string[] given)
    {
        if (given[0] == "client") Play(given);
        else if (given[0] == "server") Serve(given);
        else if (given[0] == "relay") Relay(given);
        else if (given[0] == "send") SendMany(given);
        else BeVerified();
        // Mono may hang or crash if Main returns while an aborted request is still ending (6 of 400 processes did).
        Thread.Sleep(300);
        return 0;
    }

    static void Play(string[] given)
    {
        var transport = new Counting(NewTransport());
        var tokens = 0;
        // The first request finds no token. That must not end the search.
        Func<string> token = () => tokens++ > 0 ? given[2] : throw new InvalidOperationException("no token yet");
        var client = new MusterClient(given[1], token, transport);
        Task unanswered;
        using (client)
        {
            client.Changed += state =>
            {
                // Ignore the states before the first response.
                if (state.Phase == Phase.Idle) return;
                Console.WriteLine(state.Phase.ToString().ToLowerInvariant());
                if (state.MustAccept) client.Accept();
                // An exception in the game's handler must not end the search.
                if (state.Phase == Phase.Searching) throw new InvalidOperationException("of the game");
            };
            var search = client.Play(new PlayRequest { Profile = given[3] });
            while (!search.IsCompleted)
                try
                {
                    Frame(client.Update);
                }
                catch (InvalidOperationException)
                {
                }
            Console.WriteLine(search.Result.Ports["game"].Link);
            Console.WriteLine(search.Result.JoinToken);
            unanswered = client.Play(new PlayRequest { Profile = given[3] });
        }
        if (!unanswered.IsCanceled || !client.Resume().IsCanceled)
            Console.WriteLine("waits for a client that is disposed of");
        var sent = transport.Requests;
        client.Update();
        if (transport.Requests > sent) Console.WriteLine("a client that is disposed of sends");
    }

    static void SendMany(string[] given)
    {
        var transport = NewTransport();
        using (var left = new CountdownEvent(int.Parse(given[3])))
        {
            var request = new Request { Method = "POST", Url = given[1], Body = "{}", TimeoutMs = int.Parse(given[2]) };
            for (var count = left.InitialCount; count > 0; count--)
                transport.Send(request, response =>
                {
                    Console.WriteLine(response.Status);
                    left.Signal();
                });
            left.Wait();
        }
    }

    /// A transport that counts the requests that it passes on.
    sealed class Counting : ITransport
    {
        readonly ITransport transport;
        public int Requests;

        public Counting(ITransport transport)
        {
            this.transport = transport;
        }

        public Action Send(Request request, Action<Response> done)
        {
            Requests += 1;
            return transport.Send(request, done);
        }
    }

    static void Serve(string[] given)
    {
        var tokens = Lines();
        Task unanswered;
        using (var server = new GameServer(given[1], given[2], NewTransport(), "1.0"))
        {
            var isFinished = false;
            string matchId = null;
            var players = 0;
            server.MatchStarted += match =>
            {
                matchId = match.Id;
                Console.WriteLine("match " + match.Queue);
                server.Open(match.Id);
            };
            server.Ended += (id, reason) => Console.WriteLine("ended " + reason);
            server.StopRequested += (reason, until) =>
            {
                Console.WriteLine("stop " + reason);
                server.Stopped();
            };
            server.Finished += () => isFinished = true;
            server.Problem += sentence => Console.WriteLine("problem " + sentence);
            Func<string, Task> admit = async token =>
            {
                try
                {
                    var player = await server.Admit(token);
                    Console.WriteLine("admitted " + player.Id);
                    players += 1;
                    if (players < 2) return;
                    await server.Over(matchId, new[] { new[] { player.Id } });
                    Console.WriteLine("over");
                }
                catch (JoinRefusedException refused)
                {
                    Console.WriteLine("refused " + refused.Code);
                }
            };
            while (!isFinished)
            {
                Frame(server.Update);
                string token;
                if (tokens.TryDequeue(out token)) admit(token);
            }
            Console.WriteLine("finished");
            unanswered = server.Admit("of nobody");
        }
        if (!unanswered.IsCanceled) Console.WriteLine("waits for a server that is disposed of");
    }

    /// Runs as the program that `muster verify-server` tests. The library carries out the verifier's commands.
    static void BeVerified()
    {
        // URL and token come from the environment.
        using (var server = new GameServer(null, null, NewTransport(), "1.0"))
        {
            var isFinished = false;
            server.MatchStarted += match =>
            {
                server.Open(match.Id);
                server.Seats(match.Id, true);
            };
            server.Finished += () => isFinished = true;
            server.Problem += Console.WriteLine;
            while (!isFinished) Frame(server.Update);
        }
    }

    static void Relay(string[] given)
    {
        var lines = Lines();
        // Four times as fast as real time: a ping every 125 ms, and lost after 2.5 s of silence.
        var clock = Stopwatch.StartNew();
        Func<int, uint> token = nth => uint.Parse(given[nth]);
        using (var peer = new RelayPeer(given[1] == "host", given[2], int.Parse(given[3]), token(4), token(5)))
        {
            peer.StateChanged += state => Console.WriteLine(state.ToString().ToLowerInvariant());
            peer.Received += (payload, connection) =>
            {
                Console.WriteLine("received " + Encoding.UTF8.GetString(payload));
                if (connection != null) peer.Send(payload, connection);
            };
            while (peer.State != RelayState.Invalid && peer.State != RelayState.Error)
            {
                Frame(() => peer.Update(clock.Elapsed.TotalMilliseconds * 4));
                string line;
                if (!lines.TryDequeue(out line)) continue;
                try
                {
                    peer.Send(Encoding.UTF8.GetBytes(line));
                }
                catch (ArgumentException refused)
                {
                    Console.WriteLine("refused " + refused.Message);
                }
            }
            // The peer has stopped, so a minute of silence must not change its state.
            peer.Update(clock.Elapsed.TotalMilliseconds * 4 + 60000);
        }
    }

    /// Returns the input lines as they arrive.
    static ConcurrentQueue<string> Lines()
    {
        var lines = new ConcurrentQueue<string>();
        var reader = new Thread(() =>
        {
            for (var line = Console.ReadLine(); line != null; line = Console.ReadLine()) lines.Enqueue(line);
        });
        reader.IsBackground = true;
        reader.Start();
        return lines;
    }

    static void Frame(Action update)
    {
        Thread.Sleep(5);
        update();
    }
}
