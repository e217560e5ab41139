using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace Muster
{
    public sealed class Player
    {
        public readonly string Id, MatchId;
        /// Null where there are no teams, and for players who came alone.
        public readonly string Team, GroupId;
        public readonly IReadOnlyDictionary<string, object> Attributes;

        internal Player(object told)
        {
            Id = Json.TextAt(told, "id");
            MatchId = Json.TextAt(told, "matchId");
            Team = Json.TextAt(told, "team");
            GroupId = Json.TextAt(told, "groupId");
            Attributes = (Dictionary<string, object>)Json.At(told, "attributes");
        }

        internal static Player[] AllOf(object told) => ((List<object>)told).Select(one => new Player(one)).ToArray();
    }

    public sealed class Match
    {
        public readonly string Id, Queue;
        /// What the players have in common, by the rules `equal` and `overlap`.
        public readonly IReadOnlyDictionary<string, object> Attributes;
        /// One team of an empty name where there are no teams.
        public readonly IReadOnlyDictionary<string, Player[]> Teams;

        internal Match(object told)
        {
            Id = Json.TextAt(told, "id");
            Queue = Json.TextAt(told, "queue");
            Attributes = (Dictionary<string, object>)Json.At(told, "attributes");
            var teams = (Dictionary<string, object>)Json.At(told, "teams");
            Teams = teams.ToDictionary(team => team.Key, team => Player.AllOf(team.Value));
        }
    }

    /// A player who is not let in: `expired`, `used`, `forged`, `malformed`, `other-server` or `other-match`.
    public sealed class JoinRefusedException : Exception
    {
        public readonly string Code;

        internal JoinRefusedException(string code, string message) : base(message)
        {
            Code = code;
        }
    }

    /// A game server that takes matches of Muster: docs/servers.md. Everything happens in Update.
    public sealed class GameServer : IDisposable
    {
        /// Of each knock of Muster.
        const int KnockBytes = 43;

        readonly Driver driver;
        /// While MUSTER_VERIFY_URL is set.
        readonly Verifier verifier;
        readonly Dictionary<double, TaskCompletionSource<Player>> pending =
            new Dictionary<double, TaskCompletionSource<Player>>();
        double commands;
        double toldAheadMs;
        bool isDisposed;

        /// The ports of the deployment, by name; empty where there is none.
        public readonly IReadOnlyDictionary<string, ServerPort> Ports;

        /// A match is to be played: answer by Open or Refuse.
        public event Action<Match> MatchStarted;
        /// Players have come to a match by Seats.
        public event Action<string, Player[]> Joined;
        /// The match is over, by your Over or by Muster's order: its id, and why.
        public event Action<string, string> Ended;
        /// No match comes any more. Those that are played go on to their end.
        public event Action<string> Draining;
        /// The process is to end: call Stopped before this time.
        public event Action<string, DateTimeOffset> StopRequested;
        /// Muster has heard the last word: end the process.
        public event Action Finished;
        /// A sentence such as 'Muster does not answer'.
        public event Action<string> Problem;

        /// Registers with the first Update: the assets are loaded, and matches may come.
        /// @param url null: MUSTER_URL of the environment
        /// @param token null: MUSTER_SERVER_TOKEN of the environment; without that, MUSTER_ENROL_KEY adds the process
        /// to a pool: docs/own-machines.md
        /// @param build of the game; players of another one get no seat
        /// @param matches that it serves at a time, 1 to 64
        public GameServer(string url, string token, ITransport transport, string build = null, int matches = 1,
            Dictionary<string, object> attributes = null)
        {
            var random = new Random();
            var environment = ServiceEnvironment.OfProcess();
            if (string.IsNullOrEmpty(url)) url = Json.TextAt(environment, "MUSTER_URL") ?? "";
            if (string.IsNullOrEmpty(token)) token = Json.TextAt(environment, "MUSTER_SERVER_TOKEN");
            // A server that Muster has started has a token.
            if (!string.IsNullOrEmpty(token)) environment.Remove("MUSTER_ENROL_KEY");
            else token = Json.TextAt(environment, "MUSTER_ENROL_KEY");
            driver = new Driver(new ServerMachine(random.NextDouble), url, () => token, transport, Read);
            var registration = Json.Object("matches", (double)matches);
            if (build != null) registration["build"] = build;
            if (attributes != null) registration["attributes"] = attributes;
            // The instance tells this process from others with the same token.
            var instance = Guid.NewGuid().ToString();
            Ports = ServiceEnvironment.PortsIn(environment);
            verifier = new Verifier(transport, this, Json.TextAt(environment, "MUSTER_VERIFY_URL"));
            driver.Put(Json.Object(
                "do", "start", "instance", instance, "registration", registration, "environment", environment));
        }

        /// Once a tick.
        public void Update()
        {
            var now = SteadyClock.NowMs;
            var ahead = SteadyClock.StepMs;
            if (Math.Abs(ahead - toldAheadMs) >= 1000)
            {
                toldAheadMs = ahead;
                driver.Put(Json.Object("do", "clock", "aheadMs", ahead));
            }
            driver.Update(now, Tell);
            verifier.Update(now);
        }

        /// Players may come to the match. Muster sends it elsewhere if it hears nothing for 3 s.
        public void Open(string matchId) => Command("open", "match", matchId);
        /// The match goes to another server, and this one is drained.
        public void Refuse(string matchId) => Command("refuse", "match", matchId);
        /// Ends a match. @param ranking ids of players, the best first; those in one array have the same rank
        /// @param data anything else, at most 8 KiB as JSON with the ranking
        /// @returns once Muster has the result @throws ArgumentException and the match goes on
        public Task Over(string matchId, string[][] ranking = null, Dictionary<string, object> data = null)
        {
            var result = Json.Object();
            if (ranking != null) result["ranking"] = ranking.Select(ids => (object)ids.ToList<object>()).ToList();
            if (data != null) result["data"] = data;
            return result.Count == 0
                ? Ask("over", "match", matchId)
                : Ask("over", "match", matchId, "result", result);
        }
        /// Asks for more players, or for none any more. @param teams how many by team; null: as many as have left
        /// @throws ArgumentException
        public void Seats(string matchId, bool isOpen, Dictionary<string, int> teams = null)
        {
            var wanted = teams?.ToDictionary(team => team.Key, team => (object)(double)team.Value);
            if (wanted == null) Command("seats", "match", matchId, "open", isOpen);
            else Command("seats", "match", matchId, "open", isOpen, "teams", wanted);
        }
        /// Lets in the player who sent this token. Waits up to 2 s for a seat that Muster has given a moment ago.
        /// @throws JoinRefusedException
        public Task<Player> Admit(string token) => Ask("admit", "token", token);
        /// A player has left, or never came: their seat is free for others, at once or after so many milliseconds.
        public void Left(string playerId, double mayReturnMs = 0) =>
            Command("left", "player", playerId, "mayReturnMs", mayReturnMs);
        /// `false` in three reports in a row: the server is drained and replaced.
        public void Healthy(bool isHealthy) => Command("healthy", "isHealthy", isHealthy);
        /// Takes no match any more.
        public void Drain(string reason = "own wish") => Command("drain", "reason", reason);
        /// At a signal to the process: drains and stops.
        public void Stop(string reason) => Command("stop", "reason", reason);
        /// What was to be saved is saved, after StopRequested.
        public void Stopped() => Command("stopped");
        /// Hand it each datagram that comes to the game's socket. Returns whether it is a knock of Muster, and so not
        /// for the game. Needed where the key of the pool has `knock` by UDP: docs/own-machines.md.
        public bool Knocked(byte[] datagram)
        {
            if (datagram.Length != KnockBytes) return false;
            var text = new string(datagram.Select(one => (char)one).ToArray());
            if (!text.StartsWith("muster-knock-", StringComparison.Ordinal)) return false;
            Command("knock", "text", text);
            return true;
        }

        /// Ends its requests, cancels what waits for them, and says nothing to Muster.
        public void Dispose()
        {
            isDisposed = true;
            driver.Close();
            verifier.Close();
            foreach (var granted in new List<TaskCompletionSource<Player>>(pending.Values)) granted.TrySetCanceled();
            pending.Clear();
        }

        void Command(string what, params object[] namesAndValues)
        {
            commands += 1;
            var input = Json.Object(namesAndValues);
            input["do"] = what;
            input["command"] = commands;
            driver.Put(input);
        }
        Task<Player> Ask(string what, params object[] namesAndValues)
        {
            var granted = new TaskCompletionSource<Player>();
            if (isDisposed)
            {
                granted.SetCanceled();
                return granted.Task;
            }
            pending[commands + 1] = granted;
            Command(what, namesAndValues);
            return granted.Task;
        }
        TaskCompletionSource<Player> Taken(double command)
        {
            TaskCompletionSource<Player> granted;
            if (!pending.TryGetValue(command, out granted)) return new TaskCompletionSource<Player>();
            pending.Remove(command);
            return granted;
        }

        void Tell(Dictionary<string, object> output)
        {
            if (output.ContainsKey("match")) MatchStarted?.Invoke(new Match(output["match"]));
            else if (output.ContainsKey("joined"))
                Joined?.Invoke(Json.TextAt(output, "joined"), Player.AllOf(output["players"]));
            else if (output.ContainsKey("ended"))
                Ended?.Invoke(Json.TextAt(output, "ended"), Json.TextAt(output, "reason"));
            else if (output.ContainsKey("draining")) Draining?.Invoke(Json.TextAt(output, "draining"));
            else if (output.ContainsKey("stop"))
            {
                var until = DateTimeOffset.FromUnixTimeMilliseconds((long)Json.NumberAt(output, "until"));
                if (StopRequested == null) Stopped();
                else StopRequested(Json.TextAt(output, "stop"), until);
            }
            else if (output.ContainsKey("finished")) Finished?.Invoke();
            else if (output.ContainsKey("problem")) Problem?.Invoke(Json.TextAt(output, "problem"));
            else if (output.ContainsKey("admitted"))
                Taken(Json.NumberAt(output, "admitted")).SetResult(new Player(output["player"]));
            else if (output.ContainsKey("refused"))
                Taken(Json.NumberAt(output, "refused")).SetException(
                    new JoinRefusedException(Json.TextAt(output, "code"), Json.TextAt(output, "message")));
            else if (output.ContainsKey("done")) Taken(Json.NumberAt(output, "done")).SetResult(null);
            else
                Taken(Json.NumberAt(output, "failed")).SetException(
                    new ArgumentException(Json.TextAt(output, "message")));
        }

        static Dictionary<string, object> Read(Response response)
        {
            var answer = Json.Object("status", (double)response.Status, "date", response.Date);
            var body = Json.Parse(response.Body);
            if (body != null) answer["body"] = body;
            if (Driver.RetryAfterMs(response) > 0) answer["retryAfterMs"] = Driver.RetryAfterMs(response);
            return answer;
        }
    }
}
