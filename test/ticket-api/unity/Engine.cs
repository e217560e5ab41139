// What the client for Unity in docs/game-clients.md uses of the engine. Requests go to the standard output as lines, and
// their answers are read from the standard input, so that a test can be the service. Nothing here waits.
using System;
using System.Collections.Generic;
using System.Text;
using System.Threading.Tasks;

namespace UnityEngine
{
    public class AsyncOperation { }

    public class Awaitable
    {
        public static Task FromAsyncOperation(AsyncOperation operation) => Task.CompletedTask;
        public static Task WaitForSecondsAsync(float seconds)
        {
            Console.WriteLine("WAIT\t" + seconds);
            return Task.CompletedTask;
        }
    }
}

namespace UnityEngine.Networking
{
    public class DownloadHandlerBuffer { public string text = ""; }

    public class UploadHandlerRaw
    {
        public readonly byte[] data;
        public UploadHandlerRaw(byte[] data) { this.data = data; }
    }

    public sealed class UnityWebRequest : IDisposable
    {
        public enum Result { InProgress, Success, ConnectionError, ProtocolError, DataProcessingError }

        readonly string url, method;
        readonly Dictionary<string, string> sent = new Dictionary<string, string>();
        string retryAfter;
        public DownloadHandlerBuffer downloadHandler;
        public UploadHandlerRaw uploadHandler;
        public int timeout;
        public Result result;
        public long responseCode;
        public string error;

        public UnityWebRequest(string url, string method)
        {
            this.url = url;
            this.method = method;
        }

        public void SetRequestHeader(string name, string value) { sent[name] = value; }
        public string GetResponseHeader(string name) => name == "Retry-After" ? retryAfter : null;
        public void Dispose() { }

        public AsyncOperation SendWebRequest()
        {
            var body = uploadHandler == null ? "" : Encoding.UTF8.GetString(uploadHandler.data);
            var caller = sent["Authorization"].Replace("Bearer ", "");
            Console.WriteLine(string.Join("\t", method, url, caller, body.Replace("\r", "").Replace("\n", "")));
            var answer = Console.ReadLine().Split('\t');
            responseCode = long.Parse(answer[0]);
            retryAfter = answer[1] == "" ? null : answer[1];
            downloadHandler.text = answer[2];
            result = responseCode == 0 ? Result.ConnectionError : responseCode < 400 ? Result.Success : Result.ProtocolError;
            error = result == Result.Success ? null : "HTTP " + responseCode;
            return new AsyncOperation();
        }
    }
}
