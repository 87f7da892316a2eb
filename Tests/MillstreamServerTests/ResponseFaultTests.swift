import Foundation
import Logging
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the faults that servers simulate.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ResponseFaultTests {
    /// A playlist of the files that are served.
    private static let playlist = """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:100
        #EXTINF:4,
        a.ts
        #EXTINF:4,
        b.ts
        #EXT-X-ENDLIST

        """

    private func serving(
        _ faults: String...,
        test: (_ get: (String) async throws -> RawResponse, _ port: Int) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["a.ts", "b.ts", "c.m3u8"] {
            try Data("0123456789".utf8).write(to: folder.appendingPathComponent(name))
        }
        try Data(Self.playlist.utf8).write(to: folder.appendingPathComponent("d.m3u8"))
        let origin = FolderOrigin(
            folder,
            port: 0,
            faults: try faults.map { try #require(ResponseFault($0)) },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let (ports, port) = AsyncStream<Int>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { port.finish() }
                try await origin.run { port.yield($0) }
            }
            var iterator = ports.makeAsyncIterator()
            let number = try #require(await iterator.next())
            func get(_ path: String) async throws -> RawResponse {
                let connection = try RawConnection(port: number)
                connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(number)\r\nConnection: close\r\n\r\n")
                return RawResponse(try await connection.readToEnd())
            }
            try await test(get, number)
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
    }

    @Test func statusConcernsTheRequestsOfEachMatchingPath() async throws {
        try await serving("path=*.ts&requests=2...3&status=503") { get, _ in
            var statuses: [Int] = []
            for path in ["/a.ts", "/a.ts", "/b.ts", "/a.ts", "/a.ts", "/b.ts", "/c.m3u8", "/c.m3u8"] {
                statuses.append(try await get(path).status)
            }
            #expect(statuses == [200, 503, 200, 503, 200, 503, 200, 200])
        }
    }

    @Test func segmentsAreSelectedByTheirNumbersInTheLastPlaylist() async throws {
        try await serving("sequence=101&status=503") { get, _ in
            // The number is not known before the playlist was sent.
            let before = try await get("/b.ts")
            #expect(before.status == 200)
            let playlist = try await get("/d.m3u8")
            #expect(playlist.body == Self.playlist)
            let other = try await get("/a.ts")
            #expect(other.status == 200)
            let selected = try await get("/b.ts")
            #expect(selected.status == 503)
        }
    }

    /// The server compares the path of the source of a segment, which the URL of the segment names.
    @Test func numbersOfSegmentsRemainWhenFaultsChange() throws {
        let settings = FaultSettings([try #require(ResponseFault("sequence=100...&status=503"))])
        let address = "/segment/a.ts?url=http%3A%2F%2Forigin%2Fx%2Fa.ts%3Ft%3D1&signature=0"
        let text = Self.playlist.replacing("a.ts", with: address)
        settings.recordSequences(of: Array(text.utf8), at: ResourceAddress("http://localhost/play.m3u8?url=x"))
        settings.recordSequences(of: Array("no playlist".utf8), at: ResourceAddress("http://localhost/play.m3u8"))
        let isFirst = settings.fault(forRequestOf: "/x/a.ts") != nil
        #expect(isFirst && settings.fault(forRequestOf: "/b.ts") != nil)
        try settings.replace(with: ["sequence=...100&status=404"])
        let isStill = settings.fault(forRequestOf: "/x/a.ts") != nil
        #expect(isStill && settings.fault(forRequestOf: "/b.ts") == nil)
        // The page names the number itself, and a playlist has none.
        let isNamed = settings.fault(forRequestOf: "/other.ts", sequence: 7) != nil
        #expect(isNamed && settings.fault(forRequestOf: "/play.m3u8") == nil)
    }

    @Test func firstMatchingFaultApplies() async throws {
        try await serving("path=/a.ts&status=404", "path=*&page") { get, _ in
            #expect(try await get("/a.ts").status == 404)
            let page = try await get("/b.ts")
            #expect(page.status == 200 && page.field("Content-Type")?.hasPrefix("text/html") == true)
            #expect(page.body.hasPrefix("<!DOCTYPE html>"))
        }
    }

    @Test func bodyIsTruncatedAndItsLengthAnnounced() async throws {
        try await serving("path=/a.ts&truncate=4", "path=/b.ts&truncate=0", "truncate=10") { get, _ in
            let part = try await get("/a.ts")
            #expect(part.status == 200 && part.field("Content-Length") == "10" && part.body == "0123")
            let nothing = try await get("/b.ts")
            #expect(nothing.field("Content-Length") == "10" && nothing.body.isEmpty)
            #expect(try await get("/c.m3u8").body == "0123456789")
        }
    }

    @Test func bodyIsReplacedOrDamaged() async throws {
        try await serving("path=/a.ts&body=%23EXTM3U%20x", "path=/b.ts&corrupt=4&rate=800", "corrupt=10") { get, _ in
            let text = try await get("/a.ts")
            #expect(text.status == 200 && text.body == "#EXTM3U x")
            let damaged = try await get("/b.ts")
            #expect(damaged.field("Content-Length") == "10" && damaged.body == "0123\0\0\0\0\0\0")
            #expect(try await get("/c.m3u8").body == "0123456789")
        }
    }

    @Test func connectionIsReset() async throws {
        try await serving("path=/a.ts&reset=4", "path=/b.ts&reset=0") { _, port in
            for (path, length) in [("/a.ts", 4), ("/b.ts", 0)] {
                let transport = HTTPTransport()
                let address = ResourceAddress("http://127.0.0.1:\(port)\(path)")
                let response = try await transport.send(TransportRequest(address, kind: .segment))
                #expect(response.expectedLength == 10)
                var count = 0
                let error = await #expect(throws: TransportError.self) {
                    for try await buffer in response.body { count += buffer.readableBytes }
                }
                #expect(error?.code == .connectionLost)
                #expect(count == length)
                try await transport.shutdown()
            }
        }
    }

    @Test func responseIsDelayedAndSlow() async throws {
        try await serving("path=/a.ts&delay=0.3", "path=/b.ts&rate=160") { get, _ in
            let clock = ContinuousClock()
            var body = ""
            let delay = try await clock.measure { body = try await get("/a.ts").body }
            #expect(body == "0123456789" && delay >= .milliseconds(300))
            // Ten bytes at 20 bytes per second.
            let slow = try await clock.measure { body = try await get("/b.ts").body }
            #expect(body == "0123456789" && slow >= .milliseconds(400))
        }
    }

    @Test func stalledResponseKeepsItsConnectionOpen() async throws {
        try await serving("path=/a.ts&stall=3") { get, port in
            let connection = try RawConnection(port: port)
            connection.send("GET /a.ts HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            #expect(RawResponse(try await connection.read(until: "\r\n\r\n012")).body == "012")
            // The server stops nevertheless at the end of the test.
            #expect(try await get("/b.ts").body == "0123456789")
        }
    }

    @Test(arguments: [
        ("*", "/a", true), ("/a", "/a", true), ("/a", "/ab", false), ("*.ts", "/x/a.ts", true),
        ("*.ts", "/a.ts.x", false),
        ("/x/*/a", "/x/y/z/a", true), ("*a*b*", "/xaxb", true), ("*a*b*", "/xbxa", false), ("", "", true),
        ("**", "", true),
    ])
    func patternsMatch(pattern: String, path: String, expected: Bool) throws {
        var fault = try #require(ResponseFault("status=500"))
        fault.path = pattern
        #expect(fault.concerns(path) == expected)
    }

    @Test(arguments: [
        ("wait=1", "there is no parameter wait"), ("status=200", "status must be status=CODE"),
        ("status=503&page", "status and page exclude each other"), ("path=*.ts", "it has no effect"),
        ("delay=1&delay=2", "delay occurs twice"),
    ])
    func theReasonIsNamed(text: String, reason: String) {
        let error = #expect(throws: ResponseFault.InvalidFault.self) { try ResponseFault(parsing: text) }
        #expect(error?.description.hasPrefix(reason) == true, "\(error.debugDescription)")
    }

    @Test(arguments: [
        "", "path=*.ts", "status=200", "status=600", "status=x", "requests=0&status=500", "requests=3...2&status=500",
        "requests=...&status=500", "delay=0", "delay=301", "delay=-1", "rate=0", "rate=x", "truncate=-1", "stall=x",
        "page=1", "body=x&page", "reset=1&stall=1", "corrupt=-1", "reset=x", "path=&status=500", "statuss=500",
        "status=500&status=501", "status=500&=", "truncate=1&stall=1",
        "status=500&page",
        "requests=1...x&status=500", "sequence=-1&status=500", "sequence=x&status=500", "sequence=5",
    ])
    func invalidFaultIsRefused(text: String) {
        #expect(ResponseFault(text) == nil)
    }

    @Test(arguments: [
        "status=500", "requests=2&status=599", "requests=2...&page", "requests=...4&delay=0.5&rate=64k&truncate=100",
        "sequence=0...5&status=500", "path=%2Fa%20b.ts&stall=0", "reset=0", "body=", "corrupt=0&reset=5",
    ])
    func validFaultIsAccepted(text: String) {
        #expect(ResponseFault(text) != nil)
    }
}
