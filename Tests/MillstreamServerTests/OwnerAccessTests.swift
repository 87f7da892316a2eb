import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import NIOCore
import NIOEmbedded
import Testing

@testable import MillstreamServer

/// Returns the context of a request from an address; `nil` for a connection that has none any longer.
private func requestContext(from address: String?) throws -> ServerRequestContext {
    let channel = EmbeddedChannel()
    if let address { try channel.connect(to: SocketAddress(ipAddress: address, port: 80)).wait() }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return ServerRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
}

/// Tests of the access to what is only for the owner of a server.
@Suite struct OwnerAccessTests {
    private func status(
        _ access: OwnerAccess,
        from address: String?,
        _ fields: [(HTTPField.Name, String)] = []
    ) async throws -> String {
        do {
            let context = try requestContext(from: address)
            let response = try await access.handle(.get("/", fields: fields), context: context) { _, _ in
                Response(status: .ok)
            }
            return "\(response.status.code)" + (response.headers[.retryAfter].map { " after \($0) s" } ?? "")
        } catch {
            return ServerError(error).code
        }
    }

    @Test(
        arguments: [
            ("127.0.0.1", true), ("127.255.255.254", true), ("126.255.255.255", false), ("128.0.0.1", false),
            ("192.0.2.1", false), ("::1", true), ("::ffff:127.0.0.1", true), ("::ffff:192.0.2.1", false),
            ("::2", false), ("::1:0:1", false), ("100::1", false), (nil, false),
        ] as [(String?, Bool)]
    )
    func onlyLoopbackAddressesAreThisMachine(address: String?, isAdmitted: Bool) async throws {
        let access = OwnerAccess(requiresThisMachine: true)
        #expect(try await status(access, from: address) == (isAdmitted ? "200" : "not-this-machine"))
        // Others have access if nothing is required, or with the credentials of the owner.
        #expect(try await status(OwnerAccess(), from: address) == "200")
        let token = "a-token-of-the-owner"
        let owned = OwnerAccess(credentials: OwnerCredentials(token), requiresThisMachine: true)
        #expect(try await status(owned, from: address, [(.authorization, "Bearer " + token)]) == "200")
        #expect(try await status(owned, from: address) == "401")
    }

    @Test func timeToWaitIsRoundedUp() async throws {
        let time = ManualTime()
        let token = "a-token-of-the-owner"
        var access = OwnerAccess(credentials: OwnerCredentials(token))
        access.attempts = FailedAttempts(time: time)
        let wrong = [(HTTPField.Name.authorization, "Bearer x")]
        let right = [(HTTPField.Name.authorization, "bearer  " + token)]
        for _ in 0..<10 { #expect(try await status(access, from: "192.0.2.1", wrong) == "401") }
        for (advance, retry) in [(0, 60), (500, 60), (500, 59), (58_001, 1)] {
            time.advance(by: .milliseconds(advance))
            #expect(try await status(access, from: "192.0.2.1", right) == "429 after \(retry) s")
        }
        #expect(try await status(access, from: "192.0.2.2", right) == "200")
        time.advance(by: .milliseconds(999))
        #expect(try await status(access, from: "192.0.2.1", right) == "200")
    }

    @Test func clientWithTheOldestAttemptIsForgotten() throws {
        let time = ManualTime()
        let attempts = FailedAttempts(time: time)
        func address(_ number: Int) throws -> HostAddress {
            try #require(HostAddress([10, 0, UInt8(number / 250), UInt8(number % 250)]))
        }
        let first = try #require(HostAddress([192, 0, 2, 1]))
        for _ in 0..<10 { attempts.record(first) }
        time.advance(by: .seconds(1))
        for number in 0..<4_095 { attempts.record(try address(number)) }
        #expect(attempts.delay(for: first) == .seconds(59))
        // A client that is known already takes no place.
        attempts.record(try address(7))
        #expect(attempts.delay(for: first) == .seconds(59))
        attempts.record(try address(4_095))
        #expect(attempts.delay(for: first) == nil)
    }

    @Test func clientIsNamedByATrustedProxyOnly() throws {
        let proxies = [try #require(TrustedProxy("10.0.0.0/8"))]
        let field = [(HTTPField.Name.forwardedFor, "192.0.2.7")]
        for (peer, fields, expected) in [
            ("10.0.0.1", field, "192.0.2.7"), ("10.0.0.1", [], "10.0.0.1"), ("192.0.2.1", field, "192.0.2.1"),
            ("192.0.2.1", [], "192.0.2.1"), ("10.0.0.1", [(.forwardedFor, "unknown")], "10.0.0.1"),
        ] as [(String, [(HTTPField.Name, String)], String)] {
            let context = try requestContext(from: peer)
            let client = proxies.client(of: .get("/", fields: fields), context)
            #expect(client?.description == expected, "\(peer) \(fields)")
        }
    }

    // MARK: Credentials

    @Test(arguments: [
        ("0123456789ab", true), ("0123456789a", false), ("a:0123456789ab", true), ("a:0123456789a", false),
        (":0123456789ab", false), ("a:b:123456789", false), ("a:b:1234567890", true), ("a b:0123456789ab", true),
        ("0123456 789ab", false), ("a:01234567\u{1F}9ab", false), ("a:01234567\u{7E}9ab", true),
        ("a:01234567\u{7F}9ab", false), ("", false),
    ])
    func credentialsHaveAMinimumLength(text: String, isValid: Bool) {
        #expect((OwnerCredentials(text) != nil) == isValid)
    }

    @Test func credentialsAreCompared() throws {
        let token = try #require(OwnerCredentials("a-token-of-the-owner"))
        for (field, isAccepted) in [
            ("Bearer a-token-of-the-owner", true), ("BEARER   a-token-of-the-owner", true),
            ("Basic a-token-of-the-owner", false), ("Bearer a-token-of-the-owner ", false),
            ("Bearera-token-of-the-owner", false), (" a-token-of-the-owner", false),
        ] {
            #expect(token.accept(field) == isAccepted, "\(field)")
        }
        #expect(!token.isBasic && token.challenge == "Bearer realm=\"Millstream\"")
        let basic = try #require(OwnerCredentials("me:0123456789ab"))
        #expect(basic.isBasic && basic.challenge == "Basic realm=\"Millstream\", charset=\"UTF-8\"")
    }

    @Test func fileOfCredentialsHasALimit() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("credentials-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let line = "a-token-of-the-owner\n"
        for (count, isValid) in [(4_096, true), (4_097, false)] {
            try Data((line + String(repeating: " ", count: count - line.utf8.count)).utf8).write(to: file)
            #expect(((try? OwnerCredentials(file: file)) != nil) == isValid, "\(count)")
        }
        try Data(line.utf8).write(to: file)
        for (mode, isReadable) in [(0o600, false), (0o640, true), (0o604, true), (0o610, true), (0o700, false)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            #expect(try OwnerCredentials(file: file).isReadableByOthers == isReadable, "\(mode)")
        }
    }
}

/// Tests of the rules for requests of pages.
@Suite struct PageAccessTests {
    private func code(
        _ access: PrivateAccess,
        _ initiator: RequestInitiator,
        _ method: HTTPRequest.Method,
        _ fields: [(HTTPField.Name, String)] = []
    ) async throws -> String {
        var context = try requestContext(from: "192.0.2.1")
        context.initiator = initiator
        var head = Request.get("/", fields: fields).head
        head.method = method
        do {
            let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
            let response = try await access.handle(request, context: context) { _, _ in Response(status: .ok) }
            return response.headers[.vary] ?? ""
        } catch {
            return ServerError(error).code
        }
    }

    @Test func otherPagesMayLinkToPagesButChangeNothing() async throws {
        let vary = "Origin, Sec-Fetch-Site, Referer, User-Agent"
        let (pages, data) = (PrivateAccess(allowsLinks: true), PrivateAccess())
        for (method, expected) in [
            (.get, vary), (.head, vary), (.post, "foreign-origin"), (.put, "foreign-origin"),
        ] as [(HTTPRequest.Method, String)] {
            #expect(try await code(pages, .foreignPage, method) == expected, "\(method)")
            #expect(try await code(data, .foreignPage, method) == "foreign-origin", "\(method)")
            #expect(try await code(pages, .foreignHost, method) == "foreign-host", "\(method)")
            #expect(try await code(data, .ownPage, method) == vary, "\(method)")
        }
    }

    @Test(
        arguments: [
            (.post, [(.contentLength, "5")], true), (.post, [(.contentLength, "0")], false), (.post, [], false),
            (.post, [(.contentLength, "5"), (.contentType, "application/json")], false),
            (.post, [(.contentLength, "5"), (.contentType, "Application/JSON ; charset=utf-8")], false),
            (.post, [(.contentLength, "5"), (.contentType, "text/plain")], true),
            (.post, [(.transferEncoding, "chunked")], true), (.get, [(.contentLength, "5")], false),
        ] as [(HTTPRequest.Method, [(HTTPField.Name, String)], Bool)]
    )
    func bodiesThatPagesCanSendAreRefused(
        method: HTTPRequest.Method,
        fields: [(HTTPField.Name, String)],
        isRefused: Bool
    ) async throws {
        #expect(try await (code(PrivateAccess(), .player, method, fields) == "not-json") == isRefused)
    }

    private func initiator(
        scheme: String,
        isForwarded: Bool = false,
        _ fields: (HTTPField.Name, String)...
    ) -> RequestInitiator {
        var head = HTTPRequest(method: .get, scheme: scheme, authority: "media.example", path: "/")
        for (name, value) in fields { head.headerFields.append(HTTPField(name: name, value: value)) }
        return RequestInitiator(
            head,
            names: ServerNames(["media.example"]),
            scheme: scheme,
            isForwarded: isForwarded
        )
    }

    @Test func pagesOfAServerHaveItsScheme() {
        let (plain, secure) = ("http://media.example", "https://media.example")
        #expect(initiator(scheme: "https", (.origin, secure)) == .ownPage)
        #expect(initiator(scheme: "https", (.origin, plain)) == .foreignPage)
        #expect(initiator(scheme: "http", (.origin, secure)) == .foreignPage)
        // A proxy may end TLS, or not.
        for origin in [plain, secure] {
            #expect(initiator(scheme: "http", isForwarded: true, (.origin, origin)) == .ownPage)
        }
        // A URL that the user entered, whatever page was shown before.
        let entered = initiator(scheme: "http", (.secFetchSite, "none"), (.referer, plain + "/"))
        #expect(entered == .player)
    }

    @Test(arguments: [("10.0.0.1", true), ("192.0.2.1", false)])
    func schemeIsThatOfATrustedProxy(peer: String, isOwn: Bool) async throws {
        let classification = InitiatorClassification(
            names: ServerNames(["127.0.0.1"]),
            trustedProxies: [try #require(TrustedProxy("10.0.0.0/8"))]
        )
        let response = try await classification.handle(
            .get("/", fields: [(.origin, "https://127.0.0.1")]),
            context: requestContext(from: peer)
        ) { _, context in Response(status: context.initiator == .ownPage ? .ok : .forbidden) }
        #expect((response.status == .ok) == isOwn)
    }
}
