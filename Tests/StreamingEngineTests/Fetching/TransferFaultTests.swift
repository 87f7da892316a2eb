import Crypto
import CryptoExtras
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PlaybackReporting
import ResourceAddressing
import Synchronization
import Testing

@testable import StreamingEngine

/// Tests of the reports of requests, of their observers, and of the keys of segments.
@Suite struct TransferFaultTests {
    private static let root = "https://origin.example/"

    // MARK: Reports

    /// Returns a resource that was transferred from 10 s to 20 s.
    private static func fetched(firstByte: Int?, bytes: Int64 = 700, size: Int = 5) -> FetchedResource {
        var measurement = TransferMeasurement(requestStart: .seconds(12), isFromCache: true)
        measurement.timeToFirstByte = firstByte.map { Duration.seconds($0) }
        measurement.bytes = ByteCount(bytes)
        measurement.serverAddress = "192.0.2.1:443"
        return FetchedResource(
            bytes: ByteBuffer(repeating: 1, count: size),
            address: ResourceAddress(root + "other"),
            contentType: nil,
            measurement: measurement,
            startTime: .seconds(10),
            endTime: .seconds(20),
            status: 206
        )
    }

    private static func request() -> TransportRequest {
        let address = ResourceAddress("https://user:secret@origin.example/s.ts")
        return TransportRequest(address, kind: .segment, byteRange: ByteRange(start: 3, length: 5))
    }

    @Test func reportOfAnAnswerHasItsMeasurement() {
        let report = ResourceRequest(.initialization, Self.request(), Self.fetched(firstByte: 1))
        #expect(report.kind == .initialization && report.address == Self.root + "s.ts")
        #expect(report.byteRange == ByteRange(start: 3, length: 5) && report.requestStart == .seconds(10))
        #expect(report.responseStart == .seconds(13) && report.responseEnd == .seconds(20))
        #expect(report.bytes == ByteCount(700) && report.wasReadFromCache && report.status == 206)
        #expect(report.serverAddress == "192.0.2.1:443" && report.failure == nil && !report.wasAbandoned)
    }

    @Test(arguments: [(nil, nil), (-5, 10), (-2, 10), (-1, 11), (8, 20), (9, 20)] as [(Int?, Int?)])
    func responseBeginsWithinTheTransfer(firstByte: Int?, start: Int?) {
        let report = ResourceRequest(.mediaSegment, Self.request(), Self.fetched(firstByte: firstByte))
        #expect(report.responseStart == start.map { Duration.seconds($0) })
    }

    @Test func sizeOfAnAnswerThatWasNotMeasuredIsThatOfItsBytes() {
        let report = ResourceRequest(.mediaSegment, Self.request(), Self.fetched(firstByte: 1, bytes: 0))
        #expect(report.bytes == ByteCount(5))
    }

    @Test func reportOfAFailureHasItsCause() {
        func report(_ error: (any Error)?) -> ResourceRequest {
            ResourceRequest(.contentKey, Self.request(), began: .seconds(3), now: .seconds(4), error)
        }
        var error = TransportError(.status, "the server answered 503", status: 503)
        error.serverAddress = "192.0.2.1:443"
        let refused = report(error)
        #expect(refused.kind == .contentKey && refused.address == Self.root + "s.ts" && refused.status == 503)
        #expect(refused.serverAddress == "192.0.2.1:443" && refused.failure == "the server answered 503")
        #expect(refused.requestStart == .seconds(3) && refused.responseEnd == .seconds(4) && !refused.wasAbandoned)
        #expect(refused.responseStart == nil && refused.bytes == .zero && refused.byteRange?.length == 5)
        let damaged = report(SegmentDecryption.Failure(message: "the key"))
        #expect(damaged.failure?.contains("the key") == true && damaged.status == nil && !damaged.wasAbandoned)
        for abandoned in [report(nil), report(CancellationError())] {
            #expect(abandoned.wasAbandoned && abandoned.failure == nil && abandoned.status == nil)
        }
    }

    @Test func requestsWaitForTheirReportInOrder() {
        let reports = PendingRequestReports()
        #expect(reports.isEmpty)
        let error = TransportError(.timedOut, "the server does not answer")
        for (number, failure) in [nil, error].enumerated() {
            reports.add(ResourceRequest(.other, Self.request(), began: .seconds(number), now: .zero, nil), failure)
        }
        #expect(!reports.isEmpty)
        let all = reports.removeAll()
        #expect(all.map { $0.0.requestStart } == [.zero, .seconds(1)])
        #expect(all.first?.1 == nil && all.last?.1?.code == .timedOut)
        #expect(reports.isEmpty && reports.removeAll().isEmpty)
    }

    // MARK: Attempts

    @Test(
        arguments: [
            (.playlist, .mediaPlaylist), (.segment, .mediaSegment), (.subtitle, .mediaSegment),
            (.initialization, .initialization), (.key, .contentKey), (.other, .other),
        ] as [(TransportRequest.Kind, ResourceRequest.Kind)]
    )
    func attemptThatFailedIsReported(kind: TransportRequest.Kind, reported: ResourceRequest.Kind) async throws {
        let simulation = Simulation()
        let address = ResourceAddress(Self.root + "a")
        let failure = TransportError(.timedOut, "the server does not answer", address: address)
        let transport = ScriptedTransport([address.text: [.failure(failure), .text("media")]], time: simulation)
        let reports = Mutex<[ResourceRequest]>([])
        let fetch = ResourceFetcher(
            loader: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            time: simulation
        ) { request, error in
            #expect(error.code == .timedOut)
            reports.withLock { $0.append(request) }
        }
        let monitor = TransferMonitor()
        let (fetched, began) = try await simulation.run {
            var began = simulation.now - .seconds(1)
            let request = TransportRequest(address, kind: kind)
            let limit = ByteCount(5)
            let fetched = try await fetch.load(request, &began, limit: limit, monitor: monitor)
            return (fetched, began)
        }
        let all = reports.withLock { $0 }
        let report = try #require(all.first)
        #expect(all.count == 1 && report.kind == reported && report.failure == "the server does not answer")
        #expect(report.requestStart == report.responseEnd - .seconds(1))
        // The last attempt began after a delay.
        #expect(began > report.responseEnd && fetched.startTime == began && fetched.endTime == began)
        #expect(fetched.bytes.readableBytes == 5 && fetched.status == 200 && fetched.address == address)
        let progress = monitor.progress
        #expect(progress.attemptStart == began && progress.expectedBytes == 5)
        #expect(progress.measurement?.bytes == ByteCount(5))
    }

    @Test func progressOfATransferBeginsAnewWithEachAttempt() {
        let monitor = TransferMonitor()
        #expect(monitor.progress.attemptStart == nil && monitor.progress.measurement == nil)
        monitor.attemptStarted(at: .seconds(1))
        let response = TransportResponse(to: Self.request(), expectedLength: 9, body: TransportBody([UInt8]()))
        monitor.responseReceived(response)
        #expect(monitor.progress.attemptStart == .seconds(1) && monitor.progress.expectedBytes == 9)
        #expect(monitor.progress.measurement != nil)
        monitor.attemptStarted(at: .seconds(2))
        #expect(monitor.progress.attemptStart == .seconds(2) && monitor.progress.expectedBytes == nil)
        #expect(monitor.progress.measurement == nil)
    }

    @Test(arguments: [(5, true), (4, false)]) func sizeOfAResourceIsLimited(limit: Int64, isLoaded: Bool) async throws {
        let fetch = FileBytes.fetcher(FileBytes.transport(Array("media".utf8)))
        let request = TransportRequest(FileBytes.address, kind: .other)
        if isLoaded {
            let monitor = TransferMonitor()
            let fetched = try await fetch.load(request, limit: ByteCount(limit), monitor: monitor)
            #expect(Array(fetched.bytes.readableBytesView) == Array("media".utf8))
            #expect(monitor.progress.attemptStart == fetched.startTime && fetched.startTime <= fetched.endTime)
        } else {
            let error = await #expect(throws: TransportError.self) {
                _ = try await fetch.load(request, limit: ByteCount(limit))
            }
            #expect(error?.code == .tooLarge && error?.address == FileBytes.address)
            #expect(error?.message == "the resource exceeds the maximum size of 4 bytes")
        }
    }

    // MARK: Budget

    @Test func budgetIsUsedUpToItsLimit() async throws {
        let budget = TransferBudget(limit: ByteCount(10), initializationLimit: ByteCount(4))
        try await budget.reserve(8, besides: 0)
        try await budget.reserve(2, besides: 0)
        #expect(budget.heldBytes == ByteCount(10))
        let isReserved = (budget.reserveInitialization(4), budget.reserveInitialization(1))
        #expect(isReserved.0 && !isReserved.1 && budget.heldBytes == ByteCount(14))
        budget.release(3)
        budget.releaseInitialization(1)
        #expect(budget.heldBytes == ByteCount(10))
        budget.release(0)
        budget.release(-5)
        #expect(budget.heldBytes == ByteCount(10))
        budget.releaseInitialization(9)
        budget.release(9)
        #expect(budget.heldBytes == .zero)
        // More bytes were released than were reserved. This does not extend the limits.
        let again = (budget.reserveInitialization(5), budget.reserveInitialization(4))
        #expect(!again.0 && again.1)
    }

    // MARK: Keys

    private static let key = [UInt8](repeating: 7, count: 16)
    private static let vector = [UInt8](repeating: 0, count: 15) + [9]

    /// Encrypts a text with an initialization vector that ends with the given byte.
    private static func encrypted(_ text: String, _ last: UInt8 = 9) throws -> [UInt8] {
        let iv = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 15) + [last])
        return Array(try AES._CBC.encrypt(Array(text.utf8), using: SymmetricKey(data: key), iv: iv))
    }

    /// Loads the segments of a playlist one after the other.
    private static func load(
        _ lines: String,
        _ responses: [String: [UInt8]],
        reports: @escaping @Sendable (ResourceRequest) -> Void = { _ in }
    ) async throws -> [SegmentLoader.Loaded] {
        var all: [String: [ScriptedTransport.Response]] = [:]
        for (name, bytes) in responses { all[root + name] = [.bytes(bytes)] }
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:9\n\(lines)\n#EXT-X-ENDLIST\n"
        let timeline = PresentationTimeline(try media(text, at: root + "p.m3u8"))
        let loader = SegmentLoader(FileBytes.fetcher(ScriptedTransport(all)), report: reports)
        var loaded: [SegmentLoader.Loaded] = []
        for segment in timeline.segments {
            loaded.append(try await loader.load(segment, for: .main, monitor: TransferMonitor()))
        }
        return loaded
    }

    private static func text(_ loaded: SegmentLoader.Loaded?) -> String? {
        guard case .media(let bytes, _) = loaded?.content else { return nil }
        return String(decoding: bytes.readableBytesView, as: UTF8.self)
    }

    @Test func segmentIsDecryptedWithItsKeyAndVector() async throws {
        let reports = Mutex<[ResourceRequest]>([])
        let lines = """
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x9
            #EXTINF:6,
            a.ts
            #EXT-X-KEY:METHOD=AES-128,URI="key"
            #EXTINF:6,
            b.ts
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:6,
            c.ts
            """
        let bytes = try Self.encrypted("first")
        let plain = Array("third".utf8)
        let second = try Self.encrypted("second", 10)
        let loaded = try await Self.load(lines, ["a.ts": bytes, "b.ts": second, "c.ts": plain, "key": Self.key]) {
            report in reports.withLock { $0.append(report) }
        }
        #expect(loaded.map { Self.text($0) } == ["first", "second", "third"])
        #expect(loaded.allSatisfy { $0.protection == nil })
        // The key is loaded once.
        let kinds = reports.withLock { $0.map(\.kind) }
        #expect(kinds == [.contentKey])
    }

    @Test func segmentIsDecryptedInGaloisCounterMode() async throws {
        let key = [UInt8](repeating: 5, count: 32)
        let nonce = try AES.GCM.Nonce(data: [UInt8](repeating: 3, count: 16))
        let box = try AES.GCM.seal(Array("media".utf8), using: SymmetricKey(data: key), nonce: nonce)
        let bytes = [UInt8](repeating: 3, count: 16) + Array(box.ciphertext) + Array(box.tag)
        let lines = "#EXT-X-KEY:METHOD=AES-256-GCM,URI=\"key\"\n#EXTINF:6,\na.ts"
        let loaded = try await Self.load(lines, ["a.ts": bytes, "key": key])
        #expect(loaded.map { Self.text($0) } == ["media"])
        await #expect(throws: SegmentLoader.Failure.self) {
            _ = try await Self.load(lines, ["a.ts": bytes, "key": Self.key])
        }
    }

    @Test(arguments: [("", false), (",IV=0x9", true)])
    func parametersOfSampleEncryptionAreThoseOfThePlaylist(vector: String, isExplicit: Bool) async throws {
        let lines = "#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI=\"key\"\(vector)\n#EXTINF:6,\na.ts"
        let loaded = try await Self.load(lines, ["a.ts": Array("media".utf8), "key": Self.key]).first
        #expect(Self.text(loaded) == "media" && loaded?.protection?.method == "SAMPLE-AES-CTR")
        #expect(loaded?.protection?.key == Self.key)
        #expect(loaded?.protection?.initializationVector == (isExplicit ? Self.vector : nil))
    }

    @Test func initializationSectionIsDecryptedAndHasAnIdentifier() async throws {
        let reports = Mutex<[ResourceRequest]>([])
        let bytes = try Self.encrypted("init")
        let lines = """
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x9
            #EXT-X-MAP:URI="init.mp4",BYTERANGE="16@0"
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:6,
            a.mp4
            #EXT-X-MAP:URI="plain.mp4"
            #EXTINF:6,
            a.mp4
            #EXTINF:6,
            a.mp4
            """
        let responses = ["a.mp4": Array("media".utf8), "init.mp4": bytes, "plain.mp4": [1, 2], "key": Self.key]
        let loaded = try await Self.load(lines, responses) { report in reports.withLock { $0.append(report) } }
        let sections = loaded.map { loaded -> PipelineSegment.Initialization? in
            guard case .media(_, let initialization) = loaded.content else { return nil }
            return initialization
        }
        let plain = PipelineSegment.Initialization(id: Self.root + "plain.mp4", bytes: [1, 2])
        #expect(sections[0]?.id == Self.root + "init.mp4 16@0" && sections[0]?.bytes == Array("init".utf8))
        #expect(sections[1] == plain && sections[2] == plain)
        let kinds = reports.withLock { $0.map(\.kind) }
        #expect(kinds == [.initialization, .contentKey, .initialization])
    }

    private static func failure(
        _ lines: String,
        _ responses: [String: [UInt8]],
        reports: @escaping @Sendable (ResourceRequest) -> Void = { _ in }
    ) async -> SegmentLoader.Failure? {
        await #expect(throws: SegmentLoader.Failure.self) {
            _ = try await load(lines + "\n#EXTINF:6,\na.ts", responses, reports: reports)
        }
    }

    @Test(arguments: [(15, "AES-128", 16), (17, "SAMPLE-AES", 16), (16, "AES-256-GCM", 32)])
    func sizeOfAKeyIsThatOfItsMethod(size: Int, method: String, expected: Int) async {
        let responses = ["a.ts": [UInt8](repeating: 0, count: 48), "key": [UInt8](repeating: 1, count: size)]
        let failure = await Self.failure("#EXT-X-KEY:METHOD=\(method),URI=\"key\"", responses)
        guard case .decryption(let message, let address) = failure else {
            Issue.record("the key was accepted: \(String(describing: failure))")
            return
        }
        #expect(message == "the key must have \(expected) bytes, but \(size) were received")
        #expect(address.text == Self.root + "key")
    }

    @Test func segmentThatDoesNotFitItsKeyIsDamaged() async {
        let responses = ["a.ts": [UInt8](repeating: 0, count: 15), "key": Self.key]
        let failure = await Self.failure("#EXT-X-KEY:METHOD=AES-128,URI=\"key\"", responses)
        guard case .decryption(let message, let address) = failure else {
            Issue.record("the segment was decrypted: \(String(describing: failure))")
            return
        }
        #expect(message.contains("15 bytes") && address.text == Self.root + "a.ts")
    }

    @Test func unsupportedProtectionIsRefusedBeforeARequest() async {
        let foreign = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.example.drm\""
        for lines in [foreign, "\(foreign)\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXT-X-KEY:METHOD=NONE"] {
            guard case .unsupportedProtection(.keyFormats(["com.example.drm"])) = await Self.failure(lines, [:]) else {
                Issue.record("the protection was accepted")
                continue
            }
        }
    }

    @Test(arguments: [("key", ResourceRequest.Kind.contentKey), ("i.ts", .initialization), ("a.ts", .mediaSegment)])
    func failureNamesTheKindOfTheResource(missing: String, kind: ResourceRequest.Kind) async {
        var responses = ["a.ts": [UInt8](repeating: 0, count: 16), "i.ts": [1], "key": Self.key]
        responses[missing] = nil
        let lines = "#EXT-X-MAP:URI=\"i.ts\"\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\""
        let reports = Mutex<[ResourceRequest]>([])
        let failure = await Self.failure(lines, responses) { report in reports.withLock { $0.append(report) } }
        guard case .transport(let error, let reported) = failure else {
            Issue.record("the segment was loaded")
            return
        }
        // The engine reports the requests for segments.
        let failed = reports.withLock { $0.filter { $0.failure != nil } }
        #expect(failed.map(\.kind) == (kind == .mediaSegment ? [] : [kind]) && failed.allSatisfy { $0.status == 404 })
        #expect(reported == kind && error.status == 404 && error.address?.text == Self.root + missing)
    }

    @Test(arguments: [(1 << 20, true), (1 << 20 + 1, false)])
    func fileOfAMebibyteIsKept(size: Int, isKept: Bool) async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-BYTERANGE:3@2\n#EXTINF:6,\nfilm.mp4\n#EXT-X-ENDLIST\n"
        let segments = PresentationTimeline(try media(text, at: Self.root + "film.mp4")).segments
        let segment = try #require(segments.first)
        let loader = SegmentLoader(FileBytes.fetcher(ScriptedTransport())) { _ in }
        await loader.keepFile([UInt8](repeating: 1, count: size), at: segment.address)
        if isKept {
            let loaded = try await loader.load(segment, for: .main, monitor: TransferMonitor())
            #expect(loaded.fetched.bytes.readableBytes == 3 && loaded.fetched.status == 206)
        } else {
            await #expect(throws: SegmentLoader.Failure.self) {
                _ = try await loader.load(segment, for: .main, monitor: TransferMonitor())
            }
        }
        // Only the segments of the file itself are parts of it.
        await loader.keepFile([1, 2, 3, 4, 5], at: ResourceAddress(Self.root + "other.mp4"))
        await #expect(throws: SegmentLoader.Failure.self) {
            _ = try await loader.load(segment, for: .main, monitor: TransferMonitor())
        }
    }
}
