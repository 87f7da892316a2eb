import AssetStorage
import Foundation
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

/// Tests the files of a package that are streamed from an HTTP server before they are stored.
@Suite(.timeLimit(.minutes(5))) struct StreamedPackageTests {
    private static let media = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 13 ^ $0 >> 7) }
    private static let playlist = """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-TARGETDURATION:4
        #EXTINF:4,
        #EXT-X-BYTERANGE:200000@0
        all.ts
        #EXTINF:4,
        #EXT-X-BYTERANGE:300000
        all.ts
        #EXTINF:4,
        whole.ts
        #EXT-X-ENDLIST

        """
    /// A throttled body, so that the client reads the sent bytes before the connection closes.
    private static let slowly = MisbehavingServer.Behavior.throttle(bytesPerSecond: 1_000_000)

    /// Plans an asset of which no segment is stored.
    private func withPackage(
        retries: Int = 0,
        _ body: @Sendable (PackageTransport, AssetLibrary, String, MisbehavingServer) async throws -> Void
    ) async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        try await MisbehavingServer.withServer([
            "/media.m3u8": .init(Array(Self.playlist.utf8), contentType: "application/vnd.apple.mpegurl"),
            "/all.ts": .init(Self.media, contentType: "video/mp2t", validators: .entityTag),
            "/whole.ts": .init(Self.media, contentType: "video/mp2t", validators: .entityTag),
        ]) { server in
            for path in ["/all.ts", "/whole.ts"] { server.behave(path, .status(503)) }
            let transport = HTTPTransport()
            let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
            let source = ResourceAddress(server.address("/media.m3u8"))
            await #expect(throws: DownloadError.self) {
                _ = try await AssetDownload(source, into: library, loader: loader).run()
            }
            for path in ["/all.ts", "/whole.ts"] { server.behave(path, .proper) }
            let id = try #require(try library.assets().first?.id)
            let policy = RecoveryPolicy(
                rule: .init(maximumRetries: retries, initialDelay: .milliseconds(1)),
                rules: [:],
                minimumThroughput: .init(interval: .seconds(60), byteCount: 1)
            )
            let origin = RecoveringTransport(ResourceLoader(transport, policy: policy))
            try await body(PackageTransport(library, id: id, origin: origin), library, id, server)
            try await transport.shutdown()
        }
        withExtendedLifetime(temporary) {}
    }

    private static func read(_ body: TransportBody) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await buffer in body { bytes += buffer.readableBytesView }
        return bytes
    }

    /// The Range header fields of the requests for a path.
    private static func ranges(_ path: String, _ server: MisbehavingServer) -> [String?] {
        server.requests.filter { $0.target == path }.map { $0.header("Range") }
    }

    @Test func rangeOfAResourceIsAWholeFileOfThePackage() async throws {
        try await withPackage { package, library, id, server in
            for _ in 0..<2 {
                let address = package.address(of: "media/000001.ts")
                let response = try await package.send(TransportRequest(address, kind: .segment))
                #expect(response.status == 200 && response.expectedLength == 300_000)
                #expect(response.header("Content-Range") == nil && response.header("ETag") == nil)
                #expect(try await Self.read(response.body) == Array(Self.media[200_000..<500_000]))
            }
            #expect(Self.ranges("/all.ts", server).last == "bytes=200000-499999")
            #expect(try library.missingCount(id) == 2)
        }
    }

    @Test(arguments: ["media/000001.ts", "media/000002.ts"])
    func bytesOfAnInterruptedTransferAreNotRequestedAgain(path: String) async throws {
        try await withPackage { package, library, id, server in
            let isRange = path == "media/000001.ts"
            let whole = isRange ? Array(Self.media[200_000..<500_000]) : Self.media
            let target = isRange ? "/all.ts" : "/whole.ts"
            let before = Self.ranges(target, server).count
            server.behave(target, [Self.slowly, .truncate(after: 150_000)], .proper)
            let request = TransportRequest(package.address(of: path), kind: .segment)
            let first = try await package.send(request)
            await #expect(throws: TransportError.self) { _ = try await Self.read(first.body) }
            let second = try await package.send(request)
            #expect(second.status == 200 && second.expectedLength == Int64(whole.count))
            #expect(try await Self.read(second.body) == whole)
            let last = try #require(Self.ranges(target, server).last ?? nil)
            let start = try #require(Int(last.dropFirst("bytes=".count).prefix { $0.isNumber }))
            #expect(start > (isRange ? 200_000 : 0) && Self.ranges(target, server).count == before + 2, "\(last)")
            #expect(try library.verify(id).damaged.isEmpty)
            #expect(try library.missingCount(id) == 2)
        }
    }

    @Test func resourceThatChangedIsReceivedFromItsBeginning() async throws {
        try await withPackage { package, _, _, server in
            let other = [UInt8](repeating: 9, count: 400_000)
            server.behave("/whole.ts", [Self.slowly, .truncate(after: 150_000)], .changedEntity(to: .init(other)))
            let request = TransportRequest(package.address(of: "media/000002.ts"), kind: .segment)
            let first = try await package.send(request)
            await #expect(throws: TransportError.self) { _ = try await Self.read(first.body) }
            let second = try await package.send(request)
            #expect(try await Self.read(second.body) == other)
        }
    }

    @Test func interruptedBodyIsResumedForAClientThatDoesNot() async throws {
        try await withPackage(retries: 3) { package, _, _, server in
            server.behave("/whole.ts", .status(503), [Self.slowly, .truncate(after: 150_000)], .proper)
            let before = Self.ranges("/whole.ts", server).count
            let request = TransportRequest(package.address(of: "media/000002.ts"), kind: .segment)
            let bytes = try await Self.read(try await package.send(request).body)
            #expect(bytes == Self.media)
            let ranges = Self.ranges("/whole.ts", server).dropFirst(before)
            #expect(ranges.count == 3 && ranges.last.flatMap { $0 }?.hasPrefix("bytes=") == true, "\(ranges)")
        }
    }

    @Test func webPageIsNotStored() async throws {
        try await withPackage { package, library, id, server in
            let page = Array("<!DOCTYPE html><title>Log in</title>".utf8)
            server.behave("/whole.ts", .changedEntity(to: .init(page, contentType: "text/html")))
            let address = package.address(of: "media/000002.ts")
            let loader = ResourceLoader(package, policy: RecoveryPolicy(retries: 0))
            let error = await #expect(throws: TransportError.self) {
                _ = try await loader.load(TransportRequest(address, kind: .segment))
            }
            #expect(error?.code == .wrongContent)
            #expect(try library.missingCount(id) == 3)
            server.behave("/whole.ts", .changedEntity(to: .init(Self.media)))
            let loaded = try await loader.load(TransportRequest(address, kind: .segment))
            #expect(loaded.bytes == Self.media)
            #expect(try library.missingCount(id) == 2)
        }
    }

    /// A process was ended during a transfer, and the server ignores `If-Range` after the file has changed.
    @Test func partOfAChangedFileIsNotAppended() async throws {
        try await withPackage { package, library, id, server in
            var other = MisbehavingServer.Resource([UInt8](repeating: 9, count: 600_000))
            other.ignoresIfRange = true
            server.behave("/whole.ts", [Self.slowly, .truncate(after: 150_000)], .changedEntity(to: other))
            let request = TransportRequest(package.address(of: "media/000002.ts"), kind: .segment)
            let first = try await package.send(request)
            await #expect(throws: TransportError.self) { _ = try await Self.read(first.body) }
            let note = library.packageDirectory(id).appendingPathComponent("media/000002.ts.resume")
            #expect(try String(contentsOf: note, encoding: .utf8).contains("\"totalLength\":600000"))
            let second = try await package.send(request)
            #expect(try await Self.read(second.body) == other.bytes)
            #expect(try library.verify(id).damaged.isEmpty)
        }
    }
}
