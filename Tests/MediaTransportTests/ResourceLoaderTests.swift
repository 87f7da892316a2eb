import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// A clock that records the requested sleep durations and returns immediately.
private final class InstantTime: TimeSource {
    private let waits = Mutex<[Duration]>([])

    var now: Duration { .zero }
    var slept: [Duration] { waits.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        waits.withLock { $0.append(duration) }
    }
}

@Suite struct ResourceLoaderTests {
    private let address = ResourceAddress("https://h/a")
    private let time = InstantTime()

    private func load(_ responses: ScriptedTransport.Response..., retries: Int = 3) async throws -> (String, Int) {
        let transport = ScriptedTransport([address.text: responses])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: retries), time: time)
        let loaded = try await loader.load(TransportRequest(address, kind: .playlist), limit: ByteCount(10))
        return (String(decoding: loaded.bytes, as: UTF8.self), transport.requests.count)
    }

    @Test func requestToABusyServerIsRetriedWithBackoff() async throws {
        let busy = ScriptedTransport.Response.failure(TransportError(.status, "busy", status: 503))
        let (text, requests) = try await load(busy, busy, .text("ok"))
        #expect(text == "ok" && requests == 3 && time.slept.count == 2)
        #expect((.milliseconds(125)...(.milliseconds(250))).contains(time.slept[0]))
        #expect((.milliseconds(250)...(.milliseconds(500))).contains(time.slept[1]))
    }

    @Test(arguments: [0, 1, 3])
    func errorHasTheNumberOfAttempts(retries: Int) async throws {
        let busy = ScriptedTransport.Response.failure(TransportError(.status, "busy", status: 503))
        let error = await #expect(throws: TransportError.self) {
            _ = try await load(busy, busy, busy, busy, .text("ok"), retries: retries)
        }
        #expect(error?.message == (retries == 0 ? "busy" : "busy, after \(retries + 1) attempts"))
        #expect(error?.status == 503 && time.slept.count == retries)
    }

    @Test func retryAfterDelaysTheRetry() async throws {
        let slowDown = TransportError(.status, "slow down", status: 429, retryAfter: .seconds(30))
        _ = try await load(.failure(slowDown), .text("ok"))
        #expect(time.slept == [.seconds(30)])
    }

    @Test func longRetryAfterIsNotRetried() async throws {
        let closed = TransportError(.status, "closed", status: 503, retryAfter: .seconds(3_600))
        let error = await #expect(throws: TransportError.self) { _ = try await load(.failure(closed), .text("ok")) }
        #expect(error?.retryAfter == .seconds(3_600) && time.slept.isEmpty)
    }

    @Test(arguments: [400, 401, 403, 404, 410])
    func clientErrorStatusIsNotRetried(status: Int) async {
        let error = await #expect(throws: TransportError.self) {
            _ = try await load(.failure(TransportError(.status, "no", status: status)), .text("ok"))
        }
        #expect(error?.status == status && time.slept.isEmpty)
    }

    @Test func numberOfRetriesIsLimited() async {
        await #expect(throws: TransportError.self) {
            _ = try await load(.failure(TransportError(.connectionLost, "lost")))
        }
        #expect(time.slept.count == 3)
    }

    @Test func truncatedBodyIsRetried() async throws {
        let (text, requests) = try await load(.truncated(Array("o".utf8), announced: 2), .text("ok"))
        #expect(text == "ok" && requests == 2)
    }

    @Test func keysAreValidatedByTheirBytesNotTheirContentType() async throws {
        let request = TransportRequest(address, kind: .key)
        let key = (1...16).map { UInt8($0) }
        let transport = ScriptedTransport([address.text: [.bytes(key, contentType: "text/html; charset=UTF-8")]])
        #expect(try await ResourceLoader(transport, time: time).load(request).bytes == key)
        let page = ScriptedTransport([address.text: [.text("\n<!DOCTYPE html><html>Log in</html>")]])
        let error = await #expect(throws: TransportError.self) {
            try await ResourceLoader(page, policy: RecoveryPolicy(retries: 0), time: time).load(request)
        }
        #expect(error?.code == .wrongContent)
    }

    @Test func bodyAboveTheSizeLimitIsRejected() async {
        let error = await #expect(throws: TransportError.self) { _ = try await load(.text("01234567890")) }
        #expect(error?.code == .tooLarge)
    }
}

@Suite struct SchemeTransportTests {
    private func load(_ text: String, file: (any Transport)? = FileTransport()) async throws -> String {
        let transport = SchemeTransport(http: ScriptedTransport(), file: file)
        let loaded = try await ResourceLoader(transport).load(TransportRequest(ResourceAddress(text), kind: .playlist))
        return String(decoding: loaded.bytes, as: UTF8.self)
    }

    @Test func dataURLsAreDecoded() async throws {
        #expect(try await load("data:text/plain,a%20b") == "a b")
        #expect(try await load("data:;base64,YSBi") == "a b")
        await #expect(throws: TransportError.self) { try await load("data:;base64,***") }
        await #expect(throws: TransportError.self) { try await load("data:nothing") }
    }

    @Test func filesThatARemoteDocumentNamesAreRefused() async throws {
        let address = ResourceAddress("https://h/a.m3u8").resolving("file:///etc/hostname")
        let error = await #expect(throws: TransportError.self) { try await load(address.text) }
        #expect(error?.code == .addressRefused && error?.address?.text == "file:///etc/hostname")
        #expect(error?.message.contains("a remote document refers to a local file") == true)
    }

    @Test func filesAreReadIfAllowed() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("f ü#\(UUID())")
        try Data("hello".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let address = ResourceAddress(filePath: url.path)
        #expect(try await load(address.text) == "hello")
        await #expect(throws: TransportError.self) { try await load(address.text, file: nil) }
        let range = TransportRequest(address, kind: .segment, byteRange: ByteRange(start: 1, length: 3))
        let piece = try await ResourceLoader(FileTransport()).load(range)
        #expect(piece.bytes == Array("ell".utf8))
        let missing = await #expect(throws: TransportError.self) { try await load("file:///no/such/file") }
        #expect(missing?.code == .fileNotFound)
    }

    @Test(arguments: ["skd://key", "ftp://h/x", "relative.m3u8", "javascript:x"])
    func otherSchemesAreRejected(text: String) async {
        let error = await #expect(throws: TransportError.self) { try await load(text) }
        #expect(error?.code == .addressRefused)
    }
}

@Suite struct HeaderFieldTests {
    @Test func fieldIsParsedFromALine() throws {
        let field = try #require(HeaderField(line: "X-Token:  a: b"))
        #expect(field.name == "X-Token" && field.value == "a: b")
    }

    @Test(arguments: ["", "Name", ": x", "A B: x", "A\r\nB: x", "A: x\r\nEvil: y", "Ä: x", "A: \u{0}"])
    func linesThatWouldCorruptARequestAreRejected(line: String) {
        #expect(HeaderField(line: line) == nil)
    }
}
