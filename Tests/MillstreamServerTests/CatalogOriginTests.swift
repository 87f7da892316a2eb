import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests of the other origins and the tokens of the streams in a catalog.
@Suite struct CatalogOriginTests {
    private static let web = ResourceAddress("http://origin.example/c/list.json")
    private static let file = ResourceAddress(filePath: "/srv/list.json")

    private func stream(_ fields: String, at address: ResourceAddress = web) throws -> StreamCatalog.Stream {
        let entry = #"[{"name": "a", "url": "http://origin.example/v/a.m3u8"\#(fields)}]"#
        return try #require(try StreamCatalog(Data(entry.utf8), at: address).streams.first)
    }

    private func message(_ fields: String, at address: ResourceAddress = web) -> String? {
        do {
            _ = try stream(fields, at: address)
            return nil
        } catch {
            return (error as? StreamCatalog.ReadingError)?.description ?? "\(error)"
        }
    }

    @Test func streamsHaveAlternates() throws {
        let stream = try stream(#", "alternates": ["/w/a.m3u8", "http://me:word@backup.example/a.m3u8"]"#)
        let alternates = ["http://origin.example/w/a.m3u8", "http://backup.example/a.m3u8"]
        #expect(stream.alternates.map(\.text) == alternates)
        #expect(stream.sources.map(\.text) == ["http://origin.example/v/a.m3u8"] + alternates)
        // The credentials are sent to their origin only.
        #expect(stream.headers.fields(for: ResourceAddress("http://backup.example/x")).map(\.name) == ["Authorization"])
        #expect(stream.headers.fields(for: ResourceAddress("http://origin.example/x")).isEmpty)
        let plain = try self.stream("")
        #expect(StreamCatalog([stream, plain]).alternates.map { $0.map(\.text) } == [stream.sources.map(\.text)])
    }

    @Test(arguments: ["file:///a.m3u8", "ftp://h/a"]) func alternatesAreHTTPAddresses(url: String) {
        let expected =
            "the stream \"a\" in the catalog http://origin.example/c/list.json has alternates that are not http URLs, "
            + "or is a channel"
        #expect(message(#", "alternates": ["\#(url)"]"#) == expected)
        #expect(message(#", "alternates": ["http://h/a", "\#(url)"]"#) == expected)
    }

    @Test func channelsHaveNoAlternates() {
        let entry = #"[{"name": "a", "channel": ["http://h/a"], "alternates": ["http://g/a"]}]"#
        let error = #expect(throws: StreamCatalog.ReadingError.self) {
            try StreamCatalog(Data(entry.utf8), at: Self.web)
        }
        #expect(error?.description.hasSuffix("or is a channel") == true)
    }

    @Test func tokensComeFromAServerOrAProgram() throws {
        #expect(try stream("").tokens == nil)
        let relative = ResourceAddress("http://origin.example/token?x=1")
        #expect(try stream(#", "tokenURL": "/token?x=1""#).tokens == .server(relative))
        #expect(try stream(#", "tokenProgram": ["sign", "-x"]"#, at: Self.file).tokens == .program(["sign", "-x"]))
    }

    @Test(
        arguments: [
            (#", "tokenURL": "file:///token""#, "a tokenURL that is not an http URL"),
            // A catalog from the web must not start programs.
            (#", "tokenProgram": ["sign"]"#, "a tokenProgram, which requires a catalog in a file"),
        ]
    )
    func otherTokensAreRefused(fields: String, reason: String) {
        #expect(message(fields)?.contains(reason) == true, "\(message(fields) ?? "accepted")")
    }

    @Test(arguments: [
        #""tokenProgram": []"#, #""tokenProgram": [""]"#, #""tokenProgram": ["sign"], "tokenURL": "http://h/token""#,
    ])
    func programNeedsANameAndNoServer(fields: String) {
        #expect(message(", " + fields, at: Self.file)?.contains("a program, and no tokenURL") == true)
    }

    @Test(arguments: [
        #""loop": false"#, #""start": "2026-01-01T00:00:00Z""#, #""window": 60"#, #""part": 1"#,
    ])
    func fieldsOfAChannelNeedOne(field: String) {
        #expect(
            message(", " + field)
                == "the stream \"a\" in the catalog has loop, start, window or part without channel"
        )
    }

    @Test func channelHasParts() throws {
        let entry = #"[{"name": "a", "channel": ["http://h/a"], "loop": true, "part": 0.5}]"#
        let stream = try #require(try StreamCatalog(Data(entry.utf8), at: Self.web).streams.first)
        #expect(stream.edits.edits.map(\.value) == ["loop,part=0.5"])
    }

    // MARK: Access

    private let transport = ScriptedTransport(texts: [
        "http://tokens.example/token?url=http%3A%2F%2Forigin.example%2Fv%2Fa.ts": "sig=1",
        "http://tokens.example/token?url=http%3A%2F%2Fbackup.example%2Fw%2Fa.ts": "sig=2",
        "http://origin.example/v/a.ts?sig=1": "first", "http://backup.example/w/a.ts?sig=2": "second",
        "http://other.example/a.ts": "other", "http://origin.example/v/a.ts": "without a token",
    ])

    private func access(_ fields: String) throws -> AuthorizedAccess {
        let catalog = StreamCatalog([try stream(fields)])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        return AuthorizedAccess(
            transport,
            tokens: catalog.tokenSources(loader: loader),
            alternates: catalog.alternates
        )
    }

    private func text(_ address: String, through access: AuthorizedAccess) async throws -> String {
        let loader = ResourceLoader(access.transport, policy: RecoveryPolicy(retries: 0))
        let loaded = try await loader.load(TransportRequest(ResourceAddress(address), kind: .segment))
        return String(decoding: loaded.bytes, as: UTF8.self)
    }

    @Test func eachOriginHasItsTokens() async throws {
        let tokens = #", "tokenURL": "http://tokens.example/token""#
        let access = try access(tokens + #", "alternates": ["http://backup.example/w/a.m3u8"]"#)
        #expect(try await text("http://origin.example/v/a.ts", through: access) == "first")
        #expect(try await text("http://other.example/a.ts", through: access) == "other")
        let address = ResourceAddress("http://origin.example/v/a.ts")
        #expect(try await access.redirection(address).text == "http://origin.example/v/a.ts?sig=1")
        // After a failure of the origin, the other one is preferred, with its own token.
        let failure = TransportError(.cannotConnect, "down", address: address)
        transport.setResponses(for: "http://origin.example/v/a.ts?sig=1", .failure(failure))
        #expect(try await text("http://origin.example/v/a.ts", through: access) == "second")
        #expect(try await access.redirection(address).text == "http://backup.example/w/a.ts?sig=2")
    }

    @Test func withoutTokensAddressesStayTheSame() async throws {
        let plain = try access("")
        let address = ResourceAddress("http://origin.example/v/a.ts")
        #expect(try await text(address.text, through: plain) == "without a token")
        #expect(try await plain.redirection(address) == address)
        let alternates = try access(#", "alternates": ["http://other.example/a.m3u8"]"#)
        transport.setResponses(
            for: address.text,
            .failure(TransportError(.cannotConnect, "down", address: address))
        )
        #expect(try await text(address.text, through: alternates) == "other")
        #expect(try await alternates.redirection(address).text == "http://other.example/a.ts")
    }
}
