using System;
using System.Collections.Generic;
using System.Globalization;

namespace Muster
{
    public sealed class Request
    {
        public string Method, Url;
        /// The body and the token. Null: none.
        public string Body, Token;
        /// Milliseconds until a response counts as lost.
        public int TimeoutMs;
    }

    /// A response. Status 0: there was none.
    public sealed class Response
    {
        public int Status;
        public string Body = "";
        /// The response's headers `retry-after` and `date`; null if missing.
        public string RetryAfter, Date;
    }

    /// Sends requests. Implementations use UnityWebRequest in Unity and HttpWebRequest elsewhere. You may add your
    /// own.
    public interface ITransport
    {
        /// Sends a request. `done` is called once, on any thread.
        /// @returns a function that aborts the request. `done` need not be called after it
        Action Send(Request request, Action<Response> done);
    }

    /// Sends the requests of a machine. Everything happens in Update, on the thread that calls it.
    sealed class Driver
    {
        /// Milliseconds until a response counts as lost, in addition to the time for which Muster may hold it.
        const int AnswerMs = 10000;

        readonly IMachine machine;
        readonly string url;
        readonly Func<string> token;
        readonly ITransport transport;
        readonly Func<Response, Dictionary<string, object>> read;
        readonly Queue<object> inputs = new Queue<object>();
        /// Outputs of the machine that were not handled yet.
        readonly Queue<Dictionary<string, object>> outputs = new Queue<Dictionary<string, object>>();
        readonly Dictionary<double, Action> underWay = new Dictionary<double, Action>();
        double? wakeAt;
        bool isClosed;

        /// @param read converts a response to the machine's input, without its number
        public Driver(IMachine machine, string url, Func<string> token, ITransport transport,
            Func<Response, Dictionary<string, object>> read)
        {
            this.machine = machine;
            this.url = url.TrimEnd('/');
            this.token = token;
            this.transport = transport;
            this.read = read;
        }

        public void Put(object input)
        {
            lock (inputs) inputs.Enqueue(input);
        }

        /// @param tell called with each output that is neither a request nor a wake-up time
        public void Update(double now, Action<Dictionary<string, object>> tell)
        {
            // First handle the outputs that an earlier call left behind, because a callback threw.
            CarryOutAll(tell);
            // Handle the wake-up first, because a response may change the time of the next one.
            if (wakeAt <= now && !isClosed) Step(Json.Object("wake", true), now, tell);
            // A callback may issue a command while it handles an output.
            for (var input = Next(); input != null && !isClosed; input = Next())
            {
                if (Json.At(input, "answer") != null) underWay.Remove(Json.NumberAt(input, "answer"));
                Step(input, now, tell);
            }
        }

        /// Ends the requests. Nothing is sent or reported afterwards, even if a callback calls it.
        public void Close()
        {
            isClosed = true;
            foreach (var end in underWay.Values) end();
            underWay.Clear();
        }

        object Next()
        {
            lock (inputs) return inputs.Count == 0 ? null : inputs.Dequeue();
        }

        void Step(object input, double now, Action<Dictionary<string, object>> tell)
        {
            foreach (var output in machine.Step(input, now)) outputs.Enqueue(output);
            CarryOutAll(tell);
        }

        void CarryOutAll(Action<Dictionary<string, object>> tell)
        {
            while (outputs.Count > 0 && !isClosed) CarryOut(outputs.Dequeue(), tell);
        }

        void CarryOut(Dictionary<string, object> output, Action<Dictionary<string, object>> tell)
        {
            if (output.ContainsKey("request"))
            {
                var number = Json.NumberAt(output, "request");
                Action<Response> done = response =>
                {
                    var answer = read(response);
                    answer["answer"] = number;
                    Put(answer);
                };
                try
                {
                    underWay[number] = transport.Send(RequestOf(output), done);
                }
                catch (Exception)
                {
                    // The token or the transport failed, so the machine sends the request again.
                    done(new Response());
                    throw;
                }
            }
            else if (output.ContainsKey("abort"))
            {
                Action end;
                if (!underWay.TryGetValue(Json.NumberAt(output, "abort"), out end)) return;
                underWay.Remove(Json.NumberAt(output, "abort"));
                end();
            }
            else if (output.ContainsKey("wakeAt")) wakeAt = output["wakeAt"] as double?;
            else tell(output);
        }

        Request RequestOf(Dictionary<string, object> output)
        {
            var body = Json.At(output, "body");
            return new Request
            {
                Method = Json.TextAt(output, "method"),
                Url = url + Json.TextAt(output, "path"),
                Body = body == null ? null : Json.Write(body),
                // A machine with its own token sends it instead of the player's.
                Token = Json.TextAt(output, "token") ?? (token == null ? null : token()),
                TimeoutMs = (int)Json.NumberAt(output, "waitMs") + AnswerMs,
            };
        }

        /// Returns the milliseconds in the header `retry-after`; 0 if there is none.
        public static double RetryAfterMs(Response response)
        {
            double seconds;
            var isNumber = double.TryParse(response.RetryAfter, NumberStyles.Float, CultureInfo.InvariantCulture,
                out seconds);
            return isNumber && seconds > 0 ? seconds * 1000 : 0;
        }
    }
}
