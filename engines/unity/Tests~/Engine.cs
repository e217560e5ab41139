// The parts of Unity that UnityTransport uses, so that it can be compiled and tested without Unity. Requests are sent
// by HttpTransport.
using System;
using System.Collections.Generic;
using System.Text;
using Muster;

namespace UnityEngine.Networking
{
    public sealed class DownloadHandlerBuffer { public string text = ""; }

    public sealed class UploadHandlerRaw
    {
        public readonly byte[] data;
        public UploadHandlerRaw(byte[] data) { this.data = data; }
    }

    public sealed class UnityWebRequestAsyncOperation
    {
        Action<UnityWebRequestAsyncOperation> handlers;
        bool hasEnded;

        /// A handler that is added after the end is called at once, as in Unity.
        public event Action<UnityWebRequestAsyncOperation> completed
        {
            add
            {
                lock (this)
                    if (!hasEnded)
                    {
                        handlers += value;
                        return;
                    }
                value(this);
            }
            remove
            {
                lock (this) handlers -= value;
            }
        }
        internal void End()
        {
            lock (this) hasEnded = true;
            handlers?.Invoke(this);
        }
    }

    public sealed class UnityWebRequest : IDisposable
    {
        readonly string url, method;
        readonly Dictionary<string, string> sent = new Dictionary<string, string>();
        Response answer = new Response();
        Action end = () => { };
        public DownloadHandlerBuffer downloadHandler;
        public UploadHandlerRaw uploadHandler;
        public int timeout, redirectLimit;

        public UnityWebRequest(string url, string method)
        {
            this.url = url;
            this.method = method;
        }

        public long responseCode => answer.Status;
        public void SetRequestHeader(string name, string value) { sent[name] = value; }
        public string GetResponseHeader(string name) => name == "Date" ? answer.Date : answer.RetryAfter;
        public void Abort() => end();
        public void Dispose() { }

        public UnityWebRequestAsyncOperation SendWebRequest()
        {
            var operation = new UnityWebRequestAsyncOperation();
            var request = new Request
            {
                Method = method,
                Url = url,
                Body = uploadHandler == null ? null : Encoding.UTF8.GetString(uploadHandler.data),
                Token = sent.ContainsKey("Authorization") ? sent["Authorization"].Replace("Bearer ", "") : null,
                TimeoutMs = timeout * 1000,
            };
            end = new HttpTransport().Send(request, response =>
            {
                answer = response;
                downloadHandler.text = response.Body;
                operation.End();
            });
            return operation;
        }
    }
}
