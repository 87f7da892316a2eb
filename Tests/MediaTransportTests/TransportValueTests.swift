import Foundation
import MediaTiming
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// A clock that a test sets.
private final class SetTime: TimeSource {
    private let moment: Mutex<Duration>

    init(_ now: Duration = .zero) { moment = Mutex(now) }

    var now: Duration { moment.withLock { $0 } }

    func set(_ now: Duration) { moment.withLock { $0 = now } }

    func sleep(for duration: Duration) async throws { moment.withLock { $0 += duration } }
}

@Suite struct TransferRecordTests {
    @Test func recordCountsBytesAndTheTimeSinceTheRequest() {
        let record = TransferRecord(TransferMeasurement(requestStart: .seconds(5)))
        #expect(record.measurement == TransferMeasurement(requestStart: .seconds(5)))
        record.addReceivedBytes(100)
        record.addReceivedBytes(20)
        #expect(record.measurement.bytes == ByteCount(120) && record.measurement.timeToLastByte == nil)
        record.recordEnd(at: .seconds(8))
        record.recordEnd(at: .seconds(9))
        #expect(record.measurement.timeToLastByte == .seconds(3), "the first end counts")
        let early = TransferRecord(TransferMeasurement(requestStart: .seconds(5)))
        early.recordEnd(at: .seconds(4))
        #expect(early.measurement.timeToLastByte == .zero)
    }

    @Test func measurementIsInitiallyEmpty() {
        let measurement = TransferMeasurement()
        #expect(measurement.requestStart == .zero && measurement.bytes == .zero && measurement.redirectCount == 0)
        #expect(!measurement.isFromCache && TransferMeasurement(isFromCache: true).isFromCache)
        #expect(
            measurement.domainLookupDuration == nil && measurement.connectDuration == nil
                && measurement.transferDuration == nil
        )
    }

    @Test func transferDurationIsFromTheFirstToTheLastByte() {
        var measurement = TransferMeasurement(requestStart: .seconds(100))
        measurement.timeToFirstByte = .seconds(2)
        #expect(measurement.transferDuration == nil)
        measurement.timeToLastByte = .seconds(5)
        #expect(measurement.transferDuration == .seconds(3))
        measurement.timeToLastByte = .seconds(1)
        #expect(measurement.transferDuration == .zero)
        measurement.timeToFirstByte = nil
        #expect(measurement.transferDuration == nil)
    }

    @Test func expectedBytesArriveEvenlyOverTime() {
        let time = SetTime()
        let record = TransferRecord()
        record.addReceivedBytes(10)
        record.setArrivingChunk(.init(byteCount: 1_000, from: .seconds(1), to: .seconds(3), time))
        for (moment, bytes) in [(0, 10), (1, 10), (2, 510), (3, 1_010), (9, 1_010)] {
            time.set(.seconds(moment))
            #expect(record.measurement.bytes == ByteCount(Int64(bytes)), "after \(moment) s")
        }
        time.set(.zero)
        record.setArrivingChunk(.init(byteCount: 50, from: .seconds(2), to: .seconds(2), time))
        #expect(
            record.measurement.bytes == ByteCount(1_060),
            "the piece before has arrived, and so has one without time"
        )
        record.setArrivingChunk(nil)
        #expect(record.measurement.bytes == ByteCount(1_060))
        record.setArrivingChunk(nil)
        #expect(record.measurement.bytes == ByteCount(1_060))
    }
}

@Suite struct TransportValueTests {
    private static let address = ResourceAddress("https://h/a.ts")

    // MARK: Errors

    @Test(arguments: [
        (TransportError.Code.status, "http-status"), (.unknownHost, "unknown-host"),
        (.tooManyLookups, "too-many-lookups"), (.cannotConnect, "cannot-connect"), (.timedOut, "timed-out"),
        (.connectionLost, "connection-lost"), (.wrongContent, "wrong-content"), (.contentChanged, "content-changed"),
        (.tooLarge, "too-large"), (.badRedirect, "bad-redirect"), (.addressRefused, "address-refused"),
        (.networkRefused, "network-refused"), (.fileNotFound, "file-not-found"), (.fileFailed, "file-failed"),
        (.insecure, "tls-failed"),
    ])
    func errorCodesHaveStableRawValues(code: TransportError.Code, spelling: String) {
        #expect(code.rawValue == spelling && TransportError.Code(rawValue: spelling) == code)
    }

    @Test(
        arguments: [
            ("lost", nil, "lost"), ("lost", "https://h/a", "lost: https://h/a"),
            ("https://h/a is lost", "https://h/a", "https://h/a is lost"),
            ("no /tmp/x", "file:///tmp/x", "no /tmp/x"), ("no /tmp/y", "file:///tmp/x", "no /tmp/y: file:///tmp/x"),
        ] as [(String, String?, String)]
    )
    func errorDescriptionContainsTheAddressOnce(message: String, address: String?, text: String) {
        let error = TransportError(.status, message, address: address.map { ResourceAddress($0) })
        #expect(error.description == text && error.message == message)
        #expect(!error.hasOmittedHeaderFields && error.headerFields.isEmpty && error.status == nil)
    }

    // MARK: Header fields

    @Test(arguments: [
        ("A:b", "A", "b"), ("A: \t b\t", "A", "b\t"), ("A:", "A", ""),
        ("!#$%&'*+-.^_`|~09azAZ: x:y", "!#$%&'*+-.^_`|~09azAZ", "x:y"),
        ("A:\tb \u{FC}~", "A", "b \u{FC}~"),
    ])
    func fieldConsistsOfATokenAndAValue(line: String, name: String, value: String) {
        #expect(HeaderField(line: line) == HeaderField(name, value))
    }

    @Test(arguments: ["A: \u{1F}", "A: \u{7F}", "A: \n", "A: \u{0}", "A(: b", ":", "A\t: b", "A/B: c", "A\u{7F}: b"])
    func controlCharactersAreRejected(line: String) {
        #expect(HeaderField(line: line) == nil)
    }

    @Test(arguments: [
        ("Content-Type", "content-TYPE", true), ("aZ", "Az", true), ("a1", "A1", true), ("ab", "abc", false),
        ("a-b", "a\u{D}b", false), ("a@", "a`", false), ("a[", "a{", false), ("az", "a{", false),
        ("a_", "a\u{7F}", false),
        ("zz", "ZY", false),
    ])
    func fieldNamesAreCaseInsensitive(name: String, asked: String, isFound: Bool) {
        let response = TransportResponse(
            status: 200,
            headers: [HeaderField("other", "0"), HeaderField(name, "1"), HeaderField(name, "2")],
            address: Self.address,
            expectedLength: nil,
            body: TransportBody([])
        )
        #expect(response.header(asked) == (isFound ? "1" : nil))
    }

    @Test(arguments: [
        ("If-None-Match", true), ("IF-MODIFIED-SINCE", true), ("If-Match", false), ("If-Range", false),
        ("If-Unmodified-Since", false), ("Range", false),
    ])
    func conditionalFieldsMakeARequestConditional(name: String, isConditional: Bool) throws {
        let field = HeaderField(name, "x")
        #expect(TransportRequest(Self.address, kind: .segment, headers: [field]).isConditional == isConditional)
        var scoped = TransportRequest(Self.address, kind: .segment, headers: [HeaderField("A", "own")])
        #expect(!scoped.isConditional)
        scoped.scopedHeaders = [
            ScopedHeaderField(field, for: try #require(HeaderFieldScope("h"))),
            ScopedHeaderField(HeaderField("B", "other"), for: try #require(HeaderFieldScope("other"))),
        ]
        #expect(scoped.isConditional == isConditional)
        #expect(scoped.allHeaders == [field, HeaderField("A", "own")])
    }

    // MARK: Bodies

    @Test func bodyOfBytesIsOneBuffer() async throws {
        func sizes(_ bytes: [UInt8]) async throws -> [Int] {
            var sizes: [Int] = []
            for try await buffer in TransportBody(bytes) { sizes.append(buffer.readableBytes) }
            return sizes
        }
        #expect(try await sizes([1, 2, 3]) == [3])
        #expect(try await sizes([1]) == [1])
        #expect(try await sizes([]) == [])
    }

    @Test func responseWithAnotherBodyDiffersInNothingElse() async throws {
        let original = TransportResponse(
            status: 206,
            headers: [HeaderField("a", "b")],
            address: Self.address,
            expectedLength: 3,
            body: TransportBody([1, 2, 3]),
            record: TransferRecord(TransferMeasurement(requestStart: .seconds(7)))
        )
        let other = TransferRecord(TransferMeasurement(requestStart: .seconds(8)))
        let responses = [
            original.replacingBody(with: TransportBody(Array("abc".utf8))),
            original.replacingBody(with: TransportBody(Array("abc".utf8)), record: other),
            original.replacingBody(with: Array("abcd".utf8)),
        ]
        for response in responses {
            #expect(response.status == 206 && response.headers == original.headers)
            #expect(response.address == Self.address)
        }
        #expect(responses.map(\.expectedLength) == [3, 3, 4])
        #expect(responses.map(\.record.measurement.requestStart) == [.seconds(7), .seconds(8), .zero])
        #expect(try await text(responses[0]) == "abc")
        #expect(try await text(responses[1]) == "abc")
        #expect(try await text(responses[2]) == "abcd")
    }

    // MARK: Data URLs

    private func send(
        _ text: String,
        _ range: ByteRange? = nil,
        time: any TimeSource = SystemTimeSource()
    ) async throws -> TransportResponse {
        let transport = SchemeTransport(http: ScriptedTransport(), file: nil, time: time)
        return try await transport.send(TransportRequest(ResourceAddress(text), kind: .other, byteRange: range))
    }

    private func text(_ response: TransportResponse) async throws -> String {
        var bytes: [UInt8] = []
        for try await buffer in response.body { bytes += Array(buffer.readableBytesView) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        arguments: [
            ("data:,hello", nil, 200, "hello"), ("DATA:,a%2Cb,c", nil, 200, "a,b,c"), ("data:,", nil, 200, ""),
            ("data:text/plain;base64,aGVsbG8=", nil, 200, "hello"), ("data:;base64,aGVsbG8%3D", nil, 200, "hello"),
            ("data:base64,aGVs", nil, 200, "aGVs"), ("data:,hello", ByteRange(start: 1, length: 3), 206, "ell"),
            ("data:,hello", ByteRange(start: 0, length: 5), 200, "hello"),
            ("data:,hello", ByteRange(start: 3, length: 2), 206, "lo"),
        ] as [(String, ByteRange?, Int, String)]
    )
    func dataURLIsDecoded(address: String, range: ByteRange?, status: Int, content: String) async throws {
        let time = SetTime(.seconds(7))
        let response = try await send(address, range, time: time)
        #expect(response.status == status && response.expectedLength == Int64(content.utf8.count))
        #expect(response.address.text == address && response.headers.isEmpty)
        time.set(.seconds(9))
        #expect(try await text(response) == content)
        let measurement = response.record.measurement
        #expect(
            measurement.requestStart == .seconds(7) && measurement.timeToFirstByte == .zero
                && measurement.timeToLastByte == .seconds(2)
        )
        #expect(measurement.bytes == ByteCount(Int64(content.utf8.count)))
    }

    @Test(
        arguments: [
            ("data:hello", nil, TransportError.Code.addressRefused, "the data URL has no comma"),
            ("data:;base64,*", nil, .addressRefused, "the data URL cannot be decoded"),
            ("data:,%FF", nil, .addressRefused, "the data URL cannot be decoded"),
            (
                "data:,hello", ByteRange(start: 3, length: 3), .wrongContent,
                "the requested byte range exceeds the 5 bytes of the data URL"
            ),
            ("skd://k", nil, .addressRefused, "URLs with the scheme skd cannot be loaded"),
            ("k.ts", nil, .addressRefused, "URLs with the scheme (none) cannot be loaded"),
            ("file:///k", nil, .addressRefused, "URLs with the scheme file cannot be loaded"),
        ] as [(String, ByteRange?, TransportError.Code, String)]
    )
    func invalidDataURLsAndOtherSchemesAreRejected(
        address: String,
        range: ByteRange?,
        code: TransportError.Code,
        message: String
    ) async {
        let error = await #expect(throws: TransportError.self) { _ = try await send(address, range) }
        #expect(error?.code == code && error?.message == message && error?.address?.text == address)
    }

    @Test func requestIsSentToTheTransportOfItsScheme() async throws {
        let http = ScriptedTransport(texts: ["http://h/a": "a", "https://h/b": "b"])
        let file = ScriptedTransport(texts: ["file:///c": "c"])
        let transport = SchemeTransport(http: http, file: file)
        for (address, content) in [("http://h/a", "a"), ("https://h/b", "b"), ("file:///c", "c")] {
            let request = TransportRequest(ResourceAddress(address), kind: .segment)
            #expect(try await text(try await transport.send(request)) == content)
        }
        #expect(http.requestedAddresses == ["http://h/a", "https://h/b"])
        #expect(file.requestedAddresses == ["file:///c"])
    }
}

@Suite struct FileTransportTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID())")
    private let path: String

    init() throws {
        path = folder.appendingPathComponent("media.ts").path
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func write(_ count: Int) throws {
        try Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }).write(to: URL(fileURLWithPath: path))
    }

    private func request(_ range: ByteRange? = nil, from offset: Int64? = nil) -> TransportRequest {
        var request = TransportRequest(ResourceAddress(filePath: path), kind: .segment, byteRange: range)
        request.resumption = offset.map { .init(offset: $0, validator: "x") }
        return request
    }

    @Test func fileIsReadInBuffersOf256KiB() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(600_000)
        let time = SetTime(.seconds(3))
        let response = try await FileTransport(time: time).send(request())
        #expect(response.status == 200 && response.expectedLength == 600_000 && response.headers.isEmpty)
        var sizes: [Int] = []
        for try await buffer in response.body { sizes.append(buffer.readableBytes) }
        #expect(sizes == [262_144, 262_144, 75_712])
        let measurement = response.record.measurement
        #expect(
            measurement.requestStart == .seconds(3) && measurement.timeToFirstByte == .zero
                && measurement.bytes.bytes == 600_000
        )
    }

    @Test(
        arguments: [
            (ByteRange(start: 0, length: 10), nil, 200, 0, 10), (ByteRange(start: 2, length: 5), nil, 206, 2, 5),
            (ByteRange(start: 9, length: 1), nil, 206, 9, 1), (nil, 4, 206, 4, 6), (nil, 0, 200, 0, 10),
            (ByteRange(start: 2, length: 5), 3, 206, 5, 2), (ByteRange(start: 2, length: 5), 5, 206, 7, 0),
            (nil, 10, 206, 10, 0),
        ] as [(ByteRange?, Int64?, Int, Int, Int)]
    )
    func rangeOfAFileIsRead(range: ByteRange?, offset: Int64?, status: Int, start: Int, count: Int) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(10)
        let response = try await FileTransport().send(request(range, from: offset))
        #expect(response.status == status && response.expectedLength == Int64(count))
        var bytes: [UInt8] = []
        for try await buffer in response.body { bytes += Array(buffer.readableBytesView) }
        #expect(bytes == (0..<10).map { UInt8($0 / 3) }[start..<(start + count)].map { $0 })
    }

    @Test(
        arguments: [
            (ByteRange(start: 0, length: 11), nil), (ByteRange(start: 10, length: 1), nil), (nil, 11),
            (ByteRange(start: 2, length: 5), 6),
        ] as [(ByteRange?, Int64?)]
    )
    func rangeBeyondTheEndOfTheFileIsAnError(range: ByteRange?, offset: Int64?) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(10)
        let error = await #expect(throws: TransportError.self) {
            _ = try await FileTransport().send(request(range, from: offset))
        }
        #expect(
            error?.code == .wrongContent
                && error?.message == "the requested byte range exceeds the file size of 10 bytes"
        )
        #expect(error?.address == ResourceAddress(filePath: path))
    }

    @Test func missingFileAndDirectoryAreErrorsWithAReason() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func error(_ address: ResourceAddress) async -> TransportError? {
            let error = await #expect(throws: TransportError.self) {
                _ = try await FileTransport().send(TransportRequest(address, kind: .segment))
            }
            #expect(error?.address == address)
            return error
        }
        let missing = await error(ResourceAddress(filePath: path))
        #expect(missing?.code == .fileNotFound && missing?.message == "the file \(path) does not exist")
        let directory = await error(ResourceAddress(filePath: folder.path))
        #expect(directory?.code == .fileFailed && directory?.message == "\(folder.path) is a directory, not a file")
        let remote = await error(ResourceAddress("https://h/a"))
        #expect(remote?.code == .addressRefused && remote?.message == "the URL is not a file URL")
    }

    @Test func fileThatIsTruncatedWhileReadIsAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(300_000)
        let response = try await FileTransport().send(request())
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next()?.readableBytes == 262_144)
        #expect(truncate(path, 262_144) == 0)
        let error = await #expect(throws: TransportError.self) { _ = try await iterator.next() }
        #expect(error?.code == .connectionLost && error?.message == "the file was truncated while it was being read")
        #expect(error?.address == ResourceAddress(filePath: path))
    }
}
