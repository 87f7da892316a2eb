import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOSSL
import Testing

@testable import MillstreamServer

/// Tests which heads of requests have a certain end and a host, on a channel without a network.
@Suite struct RequestHeadFaultTests {
    private struct Failure: Error {}

    private static let chunked = ("Transfer-Encoding", "chunked")
    private static let host = ("Host", "h")

    private func head(
        _ version: HTTPVersion,
        _ fields: [(String, String)],
        uri: String = "/a"
    ) -> HTTPRequestHead {
        HTTPRequestHead(version: version, method: .POST, uri: uri, headers: HTTPHeaders(fields))
    }

    @Test(
        arguments: [
            (0, 9, true), (1, 0, true), (1, 1, false), (1, 2, false), (2, 0, false),
        ] as [(Int, Int, Bool)]
    )
    func hostIsOptionalBeforeVersion1Dot1(major: Int, minor: Int, isOptional: Bool) {
        let version = HTTPVersion(major: major, minor: minor)
        #expect(RequestHeadGuard.hasRequiredHost(head(version, [])) == isOptional)
        #expect(RequestHeadGuard.hasRequiredHost(head(version, [Self.host])))
    }

    @Test(
        arguments: [(0, 9, false), (1, 0, false), (1, 1, true), (1, 2, true), (2, 0, true)] as [(Int, Int, Bool)]
    )
    func chunksHaveAMeaningSinceVersion1Dot1(major: Int, minor: Int, isCertain: Bool) {
        let version = HTTPVersion(major: major, minor: minor)
        #expect(RequestHeadGuard.hasUnambiguousLength(head(version, [Self.chunked])) == isCertain)
        #expect(RequestHeadGuard.hasUnambiguousLength(head(version, [("Transfer-Encoding", "Chunked")])) == isCertain)
        #expect(RequestHeadGuard.hasUnambiguousLength(head(version, [])))
        #expect(RequestHeadGuard.hasUnambiguousLength(head(version, [("Content-Length", "5")])))
        for fields in [
            [Self.chunked, ("Content-Length", "5")], [Self.chunked, Self.chunked], [("Transfer-Encoding", "gzip")],
        ] {
            #expect(!RequestHeadGuard.hasUnambiguousLength(head(version, fields)), "\(fields)")
        }
    }

    private func received(_ channel: EmbeddedChannel) throws -> [HTTPServerRequestPart] {
        var parts: [HTTPServerRequestPart] = []
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) { parts.append(part) }
        return parts
    }

    @Test func usualRequestIsUnchanged() throws {
        let channel = EmbeddedChannel(handler: RequestHeadGuard())
        let parts: [HTTPServerRequestPart] = [
            .head(head(.http1_1, [Self.host, Self.chunked])), .body(ByteBuffer(string: "text")), .end(nil),
        ]
        for part in parts { try channel.writeInbound(part) }
        #expect(try received(channel) == parts)
        channel.pipeline.fireErrorCaught(Failure())
        #expect(throws: Failure.self) { try channel.throwIfErrorCaught() }
    }

    @Test(arguments: [("http://evil.example/", true), ("*", true), ("a", true), ("", true), ("/a", false)])
    func targetOfAnotherFormIsReplaced(uri: String, hasHost: Bool) throws {
        let channel = EmbeddedChannel(handler: RequestHeadGuard())
        let fields = hasHost ? [Self.host] : []
        try channel.writeInbound(HTTPServerRequestPart.head(head(.http1_1, fields, uri: uri)))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        #expect(try received(channel) == [.head(head(.http1_1, fields, uri: "*")), .end(nil)])
    }

    /// The request ends with its head.
    ///
    /// The bytes after it are neither a request nor an error.
    @Test func requestWithoutACertainEndIsTheLast() throws {
        let channel = EmbeddedChannel(handler: RequestHeadGuard())
        let fields = [Self.host, ("Transfer-Encoding", "gzip"), ("Connection", "keep-alive")]
        try channel.writeInbound(HTTPServerRequestPart.head(head(.http1_1, fields)))
        let parts = try received(channel)
        try #require(parts.count == 2 && parts.last == .end(nil))
        guard case .head(let first) = parts[0] else {
            Issue.record("the first part is no head")
            return
        }
        #expect(first.uri == "*" && first.headers["Connection"] == ["close"] && first.headers["Host"] == ["h"])
        try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "text")))
        try channel.writeInbound(HTTPServerRequestPart.head(head(.http1_1, [Self.host])))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        #expect(try received(channel).isEmpty)
        channel.pipeline.fireErrorCaught(Failure())
        try channel.throwIfErrorCaught()
    }

    /// HTTP/2 is not offered, and versions of TLS before 1.2 are not accepted.
    @Test func certificateHasTheConfigurationOfTheServer() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificate-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try SelfSignedCertificate.make("a", in: folder)
        let configuration = try ServerCertificate(certificate: files.certificate, key: files.key).configuration
        #expect(configuration.minimumTLSVersion == .tlsv12 && configuration.applicationProtocols == ["http/1.1"])
    }
}
