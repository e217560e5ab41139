using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Muster
{
    /// Acts for players while `muster verify-server` tests the server (docs/game-server.md, Verify it). Runs the
    /// verifier's commands one after another. Does nothing without a URL.
    sealed class Verifier
    {
        const double PauseMs = 500;

        readonly ITransport transport;
        readonly GameServer server;
        readonly Queue<Response> responses = new Queue<Response>();
        string url;
        Action end;
        /// True while a request or a command is running.
        bool isBusy;
        /// True if the request in flight reports the outcome of a command.
        bool isAnswer;
        double askAt;

        /// @param url value of MUSTER_VERIFY_URL
        public Verifier(ITransport transport, GameServer server, string url)
        {
            this.transport = transport;
            this.server = server;
            this.url = url;
        }

        public void Update(double now)
        {
            Response response = null;
            lock (responses)
                if (responses.Count > 0) response = responses.Dequeue();
            if (response != null) Hear(response, now);
            if (string.IsNullOrEmpty(url) || isBusy || now < askAt) return;
            isAnswer = false;
            Send(new Request { Method = "GET", Url = url, TimeoutMs = 20000 });
        }

        public void Close()
        {
            url = null;
            end?.Invoke();
            end = null;
        }

        void Send(Request request)
        {
            isBusy = true;
            end = transport.Send(request, response =>
            {
                lock (responses) responses.Enqueue(response);
            });
        }

        async void Hear(Response response, double now)
        {
            end = null;
            isBusy = false;
            if (response.Status == 410) url = null;
            if (isAnswer || response.Status == 204) return;
            var command = Json.Parse(response.Body);
            if (response.Status != 200 || !Shapes.Fits("command", command))
            {
                askAt = now + PauseMs;
                return;
            }
            isBusy = true;
            var result = Json.Object("id", Json.At(command, "id"), "ok", true, "by", "library");
            try
            {
                await Act(command, result);
            }
            catch (Exception refused)
            {
                result["ok"] = false;
                result["why"] = (refused as JoinRefusedException)?.Code ?? refused.Message;
            }
            if (url == null) return;
            isAnswer = true;
            Send(new Request { Method = "POST", Url = url, Body = Json.Write(result), TimeoutMs = 10000 });
        }

        async Task Act(object command, Dictionary<string, object> result)
        {
            var what = Json.TextAt(command, "do");
            if (what == "admit") result["player"] = (await server.Admit(Json.TextAt(command, "token"))).Id;
            if (what == "leave") server.Left(Json.TextAt(command, "player"), Json.NumberAt(command, "mayReturnMs"));
            if (what == "over") await server.Over(Json.TextAt(command, "match"), null, Json.Object("verified", true));
        }
    }
}
