using System;
using System.IO;
using System.Net;
using System.Text;
using System.Threading;

namespace Muster
{
    /// A transport with HttpWebRequest, for servers and tools without an engine. Each request waits on its own
    /// thread.
    public sealed class HttpTransport : ITransport
    {
        const int MostConnections = 4096;

        static HttpTransport()
        {
            // Each long poll of each client holds a connection, and by default there are only two per host.
            if (ServicePointManager.DefaultConnectionLimit < MostConnections)
                ServicePointManager.DefaultConnectionLimit = MostConnections;
        }

        public Action Send(Request request, Action<Response> done)
        {
            var sent = WebRequest.CreateHttp(request.Url);
            sent.Method = request.Method;
            sent.Timeout = request.TimeoutMs;
            sent.ReadWriteTimeout = request.TimeoutMs;
            if (request.Token != null) sent.Headers["Authorization"] = "Bearer " + request.Token;
            // Proxies may not know this header. The request would then wait.
            sent.ServicePoint.Expect100Continue = false;
            var thread = new Thread(() => done(InTime(sent, request))) { IsBackground = true };
            thread.Start();
            return sent.Abort;
        }

        /// The timeouts of HttpWebRequest begin again with each byte, so an answer without an end needs another one.
        static Response InTime(HttpWebRequest sent, Request request)
        {
            using (new Timer(_ => sent.Abort(), null, request.TimeoutMs, Timeout.Infinite))
                return Answer(sent, request.Body);
        }

        static Response Answer(HttpWebRequest sent, string body)
        {
            try
            {
                using (var answer = Got(sent, body)) return answer == null ? new Response() : Read(answer);
            }
            catch (Exception)
            {
                // The response is incomplete, or the request was aborted.
                return new Response();
            }
        }

        /// Returns the response, even if it is an error; null if there was none.
        static HttpWebResponse Got(HttpWebRequest sent, string body)
        {
            try
            {
                if (body != null)
                {
                    var bytes = Encoding.UTF8.GetBytes(body);
                    sent.ContentType = "application/json";
                    sent.ContentLength = bytes.Length;
                    using (var stream = sent.GetRequestStream()) stream.Write(bytes, 0, bytes.Length);
                }
                // Proxies may refuse a POST without Content-Length.
                else if (sent.Method == "POST") sent.ContentLength = 0;
                return (HttpWebResponse)sent.GetResponse();
            }
            catch (WebException refusal)
            {
                return refusal.Response as HttpWebResponse;
            }
        }

        static Response Read(HttpWebResponse answer)
        {
            using (var reader = new StreamReader(answer.GetResponseStream(), Encoding.UTF8))
                return new Response
                {
                    Status = (int)answer.StatusCode,
                    Body = reader.ReadToEnd(),
                    RetryAfter = answer.Headers["Retry-After"],
                    Date = answer.Headers["Date"],
                };
        }
    }
}
