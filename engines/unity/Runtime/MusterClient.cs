using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Muster
{
    /// One player's connection to Muster. It sends nothing before the first command. Everything happens in Update.
    public sealed class MusterClient : IDisposable
    {
        readonly Driver driver;
        readonly Dictionary<double, TaskCompletionSource<bool>> pending =
            new Dictionary<double, TaskCompletionSource<bool>>();
        double commands;
        bool isDisposed;

        /// @param url URL of the ticket API, e.g. `https://play.example.com/matchmaking`
        /// @param token returns the player's token. Called before each request
        public MusterClient(string url, Func<string> token, ITransport transport)
        {
            var random = new Random();
            driver = new Driver(new Machine(random.NextDouble), url, token, transport, Read);
            State = new State(Json.Object("phase", "idle"));
        }

        /// The player's state. It is the same object until something changes.
        public State State { get; private set; }
        public event Action<State> Changed;

        /// Call it once per frame.
        public void Update() =>
            driver.Update(SteadyClock.NowMs, Tell);

        /// Continues with the player's ticket, group or match, even one from another device. Call it when the game
        /// starts.
        /// @throws MusterException
        public async Task<State> Resume()
        {
            await Command("resume");
            return State;
        }

        /// Searches for a match, or continues with the player's present ticket, group or match. Completes once there
        /// is a server.
        /// @throws MusterException
        public async Task<Assignment> Play(PlayRequest request)
        {
            await Command("play", "request", RequestOf(request));
            return State.Assignment;
        }

        /// @throws MusterException
        public Task Accept() => Command("accept");
        /// @throws MusterException
        public Task Decline() => Command("decline");
        /// Leaves the queue or the group. @throws MusterException if a server was assigned meanwhile
        public Task Cancel() => Command("cancel");
        /// Creates a group, which others join by `State.GroupId`.
        /// @throws MusterException
        public Task CreateGroup(PlayRequest request) => Command("group", "request", RequestOf(request));
        /// @throws MusterException
        public Task JoinGroup(string groupId, PlayRequest request) =>
            Command("group", "request", RequestOf(request), "join", groupId);
        /// The search begins once all members are ready.
        /// @throws MusterException
        public Task Ready(bool isReady = true) => Command("ready", "isReady", isReady);

        /// Ends its requests and cancels pending tasks. The search continues at Muster, unless the queue requires
        /// presence.
        public void Dispose()
        {
            isDisposed = true;
            driver.Close();
            // Code that awaits one of the tasks may issue a command at once, so iterate over a copy.
            foreach (var granted in new List<TaskCompletionSource<bool>>(pending.Values)) granted.TrySetCanceled();
            pending.Clear();
        }

        Task Command(string what, params object[] namesAndValues)
        {
            commands += 1;
            var input = Json.Object(namesAndValues);
            input["do"] = what;
            input["command"] = commands;
            var granted = new TaskCompletionSource<bool>();
            if (isDisposed) granted.SetCanceled();
            else
            {
                pending[commands] = granted;
                driver.Put(input);
            }
            return granted.Task;
        }

        void Tell(Dictionary<string, object> output)
        {
            if (output.ContainsKey("state"))
            {
                State = new State(output["state"]);
                Changed?.Invoke(State);
                return;
            }
            var isDone = output.ContainsKey("done");
            var command = Json.NumberAt(output, isDone ? "done" : "failed");
            var granted = pending[command];
            pending.Remove(command);
            if (isDone) granted.SetResult(true);
            else granted.SetException(new MusterException(output["refusal"]));
        }

        static Dictionary<string, object> RequestOf(PlayRequest request)
        {
            var made = Json.Object("profile", request.Profile);
            if (request.Profiles != null) made["profiles"] = request.Profiles;
            if (request.Attributes != null) made["attributes"] = request.Attributes;
            if (request.Roles != null) made["roles"] = request.Roles;
            return made;
        }

        /// A page of a proxy or an incomplete response counts as no response.
        static Dictionary<string, object> Read(Response response)
        {
            var body = Json.Parse(response.Body);
            var isMuster = response.Status == 204 || body is Dictionary<string, object> || body is List<object>;
            var answer = Json.Object("status", isMuster || response.Status == 401 ? (double)response.Status : 0.0);
            if (isMuster && body != null) answer["body"] = body;
            if (Driver.RetryAfterMs(response) > 0) answer["retryAfterMs"] = Driver.RetryAfterMs(response);
            return answer;
        }
    }
}
