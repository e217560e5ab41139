// What FMusterTransport uses of Unreal, so that it is compiled and played without it. Requests go out by libcurl.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "../../cpp/muster/curl_transport.hpp"

#define TEXT(text) text
#define UTF8_TO_TCHAR(text) text
#define TCHAR_TO_UTF8(text) text

struct FString
{
	std::string Text;
	FString() {}
	FString(const char* From) : Text(From) {}
	const char* operator*() const { return Text.c_str(); }
};

template <typename Type>
struct TSharedPtr : std::shared_ptr<Type>
{
	using std::shared_ptr<Type>::shared_ptr;
	bool IsValid() const { return this->get() != nullptr; }
};

struct IHttpResponse
{
	muster::Response Got;
	int GetResponseCode() const { return Got.status; }
	FString GetContentAsString() const { return FString(Got.body.c_str()); }
	FString GetHeader(const FString& Name) const
	{
		return FString(Name.Text == "Date" ? Got.date.c_str() : Got.retry_after.c_str());
	}
};
struct IHttpRequest;
using FHttpRequestPtr = TSharedPtr<IHttpRequest>;
using FHttpResponsePtr = TSharedPtr<IHttpResponse>;

struct FHttpRequestCompleteDelegate
{
	std::function<void(FHttpRequestPtr, FHttpResponsePtr, bool)> Bound;
	template <typename Lambda> void BindLambda(Lambda What) { Bound = What; }
	void Unbind() { Bound = nullptr; }
};

struct FHttpModule
{
	muster::CurlTransport Curl;
	static FHttpModule& Get()
	{
		static FHttpModule One;
		return One;
	}
	void Tick() { Curl.poll(); }
	FHttpRequestPtr CreateRequest();
};

struct IHttpRequest : std::enable_shared_from_this<IHttpRequest>
{
	muster::Request Wanted;
	FHttpRequestCompleteDelegate Complete;
	std::uint64_t Id = 0;
	void SetURL(const FString& Value) { Wanted.url = Value.Text; }
	void SetVerb(const FString& Value) { Wanted.method = Value.Text; }
	void SetHeader(const FString& Name, const FString& Value) { Wanted.headers.emplace_back(Name.Text, Value.Text); }
	void SetContentAsString(const FString& Value) { Wanted.body = Value.Text; }
	void SetTimeout(float Seconds) { Wanted.timeout_ms = static_cast<int>(Seconds * 1000); }
	void SetActivityTimeout(float) {}
	FHttpRequestCompleteDelegate& OnProcessRequestComplete() { return Complete; }
	bool ProcessRequest()
	{
		Id = FHttpModule::Get().Curl.send(Wanted, [Self = shared_from_this()](const muster::Response& Got)
		{
			// The engine keeps the delegate that it calls.
			const auto Bound = Self->Complete.Bound;
			FHttpResponsePtr Response(new IHttpResponse{Got});
			if (Bound) Bound(FHttpRequestPtr(), Got.status == 0 ? FHttpResponsePtr() : Response, Got.status != 0);
		});
		return true;
	}
	void CancelRequest() { FHttpModule::Get().Curl.abort(Id); }
};

inline FHttpRequestPtr FHttpModule::CreateRequest() { return FHttpRequestPtr(new IHttpRequest()); }
