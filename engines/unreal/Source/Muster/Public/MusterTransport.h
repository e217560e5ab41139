// The transport of Muster's header for C++ by FHttpModule. Its answers come on the game thread.
#pragma once

#include "CoreMinimal.h"
#include "HttpModule.h"
#include "Interfaces/IHttpRequest.h"
#include "Interfaces/IHttpResponse.h"

#include <map>

#include "muster.hpp"

class FMusterTransport final : public muster::Transport
{
public:
	virtual ~FMusterTransport() override
	{
		while (!UnderWay.empty()) abort(UnderWay.begin()->first);
	}

	virtual std::uint64_t send(const muster::Request& Wanted, std::function<void(muster::Response)> Done) override
	{
		const std::uint64_t Id = ++Count;
		const auto Request = FHttpModule::Get().CreateRequest();
		Request->SetURL(Text(Wanted.url));
		Request->SetVerb(Text(Wanted.method));
		for (const auto& [Name, Value] : Wanted.headers) Request->SetHeader(Text(Name), Text(Value));
		if (!Wanted.body.empty()) Request->SetContentAsString(Text(Wanted.body));
		Request->SetTimeout(Wanted.timeout_ms / 1000.f);
		// The engine ends a connection that is silent for 30 s, and a long poll may be for 25.
		Request->SetActivityTimeout(Wanted.timeout_ms / 1000.f);
		Request->OnProcessRequestComplete().BindLambda([this, Id, Done](FHttpRequestPtr, FHttpResponsePtr Got, bool bIsGood)
		{
			UnderWay.erase(Id);
			muster::Response Response;
			if (bIsGood && Got.IsValid())
			{
				Response.status = Got->GetResponseCode();
				Response.body = Bytes(Got->GetContentAsString());
				Response.retry_after = Bytes(Got->GetHeader(TEXT("Retry-After")));
				Response.date = Bytes(Got->GetHeader(TEXT("Date")));
			}
			Done(Response);
		});
		UnderWay[Id] = Request;
		Request->ProcessRequest();
		return Id;
	}

	virtual void abort(std::uint64_t Id) override
	{
		const auto Found = UnderWay.find(Id);
		if (Found == UnderWay.end()) return;
		const auto Request = Found->second;
		UnderWay.erase(Found);
		Request->OnProcessRequestComplete().Unbind();
		Request->CancelRequest();
	}

private:
	static FString Text(const std::string& From) { return FString(UTF8_TO_TCHAR(From.c_str())); }
	static std::string Bytes(const FString& From) { return std::string(TCHAR_TO_UTF8(*From)); }

	std::map<std::uint64_t, FHttpRequestPtr> UnderWay;
	std::uint64_t Count = 0;
};
