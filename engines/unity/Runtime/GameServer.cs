using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace Muster
{
    public sealed class Player
    {
        public readonly string Id, MatchId;
        /// Null in a match without teams, and for players without a party.
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
        /// The attributes that all players share, by the rules `equal` and `overlap`.
        public readonly IReadOnlyDictionary<string, object> Attributes;
        /// The players by team. A match without teams has one team with an empty name.
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

    /// Thrown if a player is not admitted: `expired`, `used`, `forged`, `malformed`, `other-server` or `other-match`.
    public sealed class JoinRefusedException : Exception
    {
        public readonly string Code;

        internal JoinRefusedException(string code, string message) : base(message)
        {
            Code = code;
        }
    }

    /// A game server that serves matches of Muster: docs/servers.md. Everything happens in Update.
    public sealed class GameServer : IDisposable
    {
        /// Length of each knock of Muster in bytes.
        const int KnockBytes = 43;

        readonly Driver driver;
        /// Not null while MUSTER_VERIFY_URL is set.
        readonly Verifier verifier;
        readonly Dictionary<double, TaskCompletionSource<Player>> pending =
            new Dictionary<double, TaskCompletionSource<Player>>();
        double commands;
        double toldAheadMs;
        bool isDisposed;

        /// The deployment's ports by name. Empty outside of a deployment.
        public readonly IReadOnlyDictionary<string, ServerPort> Ports;

        /// Raised when a match should be played. Respond with Open or Refuse.
        public event Action<Match> MatchStarted;
        /// Raised when players join a match that has requested them with Seats.
        public event Action<string, Player[]> Joined;
        /// Raised when a match is over, by your call of Over or by Muster's order, with its id and the reason.
        public event Action<string, string> Ended;
        /// Raised when no more matches will come. Running matches continue to their end.
        public event Action<string> Draining;
        /// Raised when the process should end. Call Stopped before this time.
        public event Action<string, DateTimeOffset> StopRequested;
        /// Raised when Muster has the last report. End the process.
        public event Action Finished;
        /// Raised with a sentence about a problem, e.g. 'Muster does not answer'.
        public event Action<string> Problem;

        /// Registers with the first Update. Create it once assets are loaded, because matches may come afterwards.
        /// @param url null: MUSTER_URL of the environment
        /// @param token null: MUSTER_SERVER_TOKEN of the environment. Without that, MUSTER_ENROL_KEY enrols the
        /// process in a pool: docs/own-machines.md
        /// @param build build of the game. Players with another build get no seat
        /// @param matches maximum number of concurrent matches, 1 to 64
        public GameServer(string url, string token, ITransport transport, string build = null, int matches = 1,
            Dictionary<string, object> attributes = null)
        {
            var random = new Random();
            var environment = ServiceEnvironment.OfProcess();
            if (string.IsNullOrEmpty(url)) url = Json.TextAt(environment, "MUSTER_URL") ?? "";
            if (string.IsNullOrEmpty(token)) token = Json.TextAt(environment, "MUSTER_SERVER_TOKEN");
            // Returns true if the server enrols. A server that Muster has started has a token instead.
            if (!string.IsNullOrEmpty(token)) environment.Remove("MUSTER_ENROL_KEY");
            else token = Json.TextAt(environment, "MUSTER_ENROL_KEY");
            driver = new Driver(new ServerMachine(random.NextDouble), url, () => token, transport, Read);
            var registration = Json.Object("matches", (double)matches);
            if (build != null) registration["build"] = build;
            if (attributes != null) registration["attributes"] = attributes;
            // `instance` distinguishes this process from others with the same token.
            var instance = Guid.NewGuid().ToString();
            Ports = ServiceEnvironment.PortsIn(environment);
            verifier = new Verifier(transport, this, Json.TextAt(environment, "MUSTER_VERIFY_URL"));
            driver.Put(Json.Object(
                "do", "start", "instance", instance, "registration", registration, "environment", environment));
        }

        /// Call it once per tick.
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

        /// Reports that players may connect to the match. If Muster gets no such report within 3 s, it gives the
        /// match to another server.
        public void Open(string matchId) => Command("open", "match", matchId);
        /// Gives the match to another server. This server is then drained.
        public void Refuse(string matchId) => Command("refuse", "match", matchId);
        /// Ends a match.
        /// @param ranking ids of players, the best first. Players in one array have the same rank
        /// @param data any other data. With the ranking at most 8 KiB of JSON
        /// @returns a task that completes once Muster has the result
        /// @throws ArgumentException, and the match continues
        public Task Over(string matchId, string[][] ranking = null, Dictionary<string, object> data = null)
        {
            var result = Json.Object();
            if (ranking != null) result["ranking"] = ranking.Select(ids => (object)ids.ToList<object>()).ToList();
            if (data != null) result["data"] = data;
            return result.Count == 0
                ? Ask("over", "match", matchId)
                : Ask("over", "match", matchId, "result", result);
        }
        /// Requests more players, or stops requesting them.
        /// @param teams number of players by team. Null: one player for each one who has left
        /// @throws ArgumentException
        public void Seats(string matchId, bool isOpen, Dictionary<string, int> teams = null)
        {
            var wanted = teams?.ToDictionary(team => team.Key, team => (object)(double)team.Value);
            if (wanted == null) Command("seats", "match", matchId, "open", isOpen);
            else Command("seats", "match", matchId, "open", isOpen, "teams", wanted);
        }
        /// Admits the player who sent this token. Waits up to 2 s for a seat that Muster has just assigned.
        /// @throws JoinRefusedException
        public Task<Player> Admit(string token) => Ask("admit", "token", token);
        /// Reports that a player has left or never came. Their seat becomes free at once, or after so many
        /// milliseconds.
        public void Left(string playerId, double mayReturnMs = 0) =>
            Command("left", "player", playerId, "mayReturnMs", mayReturnMs);
        /// Sets the server's health. After three reports in a row with `false`, the server is drained and replaced.
        public void Healthy(bool isHealthy) => Command("healthy", "isHealthy", isHealthy);
        /// Accepts no more matches.
        public void Drain(string reason = "own wish") => Command("drain", "reason", reason);
        /// Drains and stops the server. Call it when the process gets a signal.
        public void Stop(string reason) => Command("stop", "reason", reason);
        /// Reports that everything is saved, in response to StopRequested.
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

        /// Ends its requests and cancels pending tasks. Reports nothing to Muster.
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
