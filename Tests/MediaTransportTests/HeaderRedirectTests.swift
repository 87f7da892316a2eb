import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests which header fields and cookies are sent after redirects between two local origins.
@Suite struct HeaderRedirectTests {
    /// Sends a request to a server that redirects to another origin, and returns the first request to each of the two
    /// origins.
    private func redirected(
        from first: String,
        to second: String,
        status: Int = 302,
        field: (_ first: ResourceAddress, _ second: ResourceAddress) throws -> [ScopedHeaderField],
        request: (ResourceAddress) -> TransportRequest = { TransportRequest($0, kind: .segment) },
        options: HTTPTransport.Options = HTTPTransport.Options()
    ) async throws -> (first: MisbehavingServer.Request?, second: MisbehavingServer.Request?) {
        try await MisbehavingServer.withServer(["/b": .init([1, 2, 3])]) { target in
            try await MisbehavingServer.withServer([:]) { server in
                let source = ResourceAddress("\(first):\(server.port)/a")
                let port = first == second ? server.port : target.port
                let destination = ResourceAddress("\(second):\(port)/b")
                server.set("/b", .init([1, 2, 3]))
                server.behave("/a", .redirect(to: destination.text, status: status))
                var options = options
                options.headers = try field(source, destination)
                let transport = HTTPTransport(options)
                let response = try await transport.send(request(source))
                try await transport.shutdown()
                #expect(response.address == destination && response.record.measurement.redirectCount == 1)
                return (server.requests.first, (target.requests + server.requests).first { $0.target == "/b" })
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func fieldForOneOriginIsNotSentToAnotherOrigin(status: Int) async throws {
        let asked = try await redirected(from: "http://127.0.0.1", to: "http://127.0.0.1", status: status) { first, _ in
            [ScopedHeaderField]([HeaderField("X-Token", "t"), HeaderField("Cookie", "s=1")], forOriginsOf: [first])
        }
        // Same origin: both requests have the field.
        #expect(asked.first?.header("X-Token") == "t" && asked.second?.header("X-Token") == "t")
        let other = try await redirected(from: "http://localhost", to: "http://127.0.0.1", status: status) { first, _ in
            [ScopedHeaderField](
                [HeaderField("X-Token", "t"), HeaderField("Authorization", "a"), HeaderField("Cookie", "s=1")],
                forOriginsOf: [first]
            )
        }
        #expect(other.first?.header("X-Token") == "t" && other.first?.header("Cookie") == "s=1")
        #expect(other.second != nil)
        for name in ["X-Token", "Authorization", "Cookie"] { #expect(other.second?.header(name) == nil) }
    }

    @Test func fieldsOfARequestExceptRangeAreNotSentToAnotherOrigin() async throws {
        let asked = try await redirected(from: "http://localhost", to: "http://127.0.0.1") { _, _ in
            []
        } request: { address in
            TransportRequest(
                address,
                kind: .segment,
                headers: [HeaderField("X-Token", "t"), HeaderField("Range", "bytes=0-1"), HeaderField("Referer", "r")]
            )
        }
        #expect(asked.first?.header("X-Token") == "t" && asked.first?.header("Range") == "bytes=0-1")
        #expect(asked.second?.header("X-Token") == nil && asked.second?.header("Referer") == nil)
        #expect(asked.second?.header("Range") == "bytes=0-1")
    }

    @Test(arguments: [
        ("localhost", false), ("127.0.0.1", true), ("127.0.0.1:PORT", true), ("127.0.0.1:1", false), ("*", true),
        ("http://127.0.0.1:PORT", true), ("https://127.0.0.1:PORT", false), ("127.0.0.2", false),
    ])
    func fieldForAHostIsSentToThatHostAfterARedirect(host: String, isSent: Bool) async throws {
        for isOfRequest in [false, true] {
            var scoped: [ScopedHeaderField] = []
            let asked = try await redirected(from: "http://localhost", to: "http://127.0.0.1") { _, second in
                let text = host.replacing("PORT", with: "\(second.port ?? 0)")
                scoped = [try #require(ScopedHeaderField(line: "\(text) X-Token: t"))]
                return isOfRequest ? [] : scoped
            } request: { address in
                var request = TransportRequest(address, kind: .segment)
                if isOfRequest { request.scopedHeaders = scoped }
                return request
            }
            #expect((asked.second?.header("X-Token") == "t") == isSent)
        }
    }

    @Test func errorReportsWhetherHeaderFieldsWereWithheld() async throws {
        try await MisbehavingServer.withServer([:]) { server in
            server.behave("*", .status(403))
            for (line, isWithheld) in [("127.0.0.1 X: t", false), ("127.0.0.2 X: t", true)] {
                let field = try #require(ScopedHeaderField(line: line))
                let transport = HTTPTransport(HTTPTransport.Options(headers: [field]))
                let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
                let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
                try await transport.shutdown()
                #expect(error?.status == 403 && error?.hasOmittedHeaderFields == isWithheld)
            }
        }
    }

    @Test func cookiesAreNeitherSentNorStoredForExcludedAddresses() async throws {
        try await MisbehavingServer.withServer([:]) { server in
            server.behave("*", .status(200, headers: ["Set-Cookie": "new=1; Path=/"]))
            let jar = CookieJar()
            for host in ["localhost", "127.0.0.1"] {
                jar.store(
                    setCookie: "old=1; Path=/",
                    from: ResourceAddress("http://\(host)/"),
                    now: UnixSeconds(1_000_000_000)
                )
            }
            var options = HTTPTransport.Options(cookies: jar)
            options.usesCookies = { $0.host == "localhost" }
            let transport = HTTPTransport(options)
            for host in ["localhost", "127.0.0.1"] {
                let address = ResourceAddress("http://\(host):\(server.port)/")
                _ = try await transport.send(TransportRequest(address, kind: .segment))
            }
            try await transport.shutdown()
            #expect(server.requests.map { $0.header("Cookie") } == ["old=1", nil])
            #expect(jar.count == 3)
        }
    }
}
