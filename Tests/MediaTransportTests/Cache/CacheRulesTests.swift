import Foundation
import MediaTiming
import NIOCore
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite struct CacheRulesTests {
    private static let address = ResourceAddress("https://h/a")
    private let rules = CacheRules(kinds: [.segment, .playlist], maximumEntrySize: 1_000)

    private static func metadata(
        _ fields: [String],
        status: Int = 200,
        range: ByteRange? = nil,
        requested: Int64 = 1_000,
        received: Int64 = 1_000
    ) -> EntryMetadata {
        EntryMetadata(
            key: EntryKey(address: address, byteRange: range),
            status: status,
            address: address,
            requested: UnixSeconds(requested),
            received: UnixSeconds(received),
            headers: fields.compactMap { HeaderField(line: $0) }
        )
    }

    private static func request(
        _ fields: [String] = [],
        _ address: String = "https://h/a",
        kind: TransportRequest.Kind = .segment,
        range: ByteRange? = nil
    ) -> TransportRequest {
        TransportRequest(
            ResourceAddress(address),
            kind: kind,
            byteRange: range,
            headers: fields.compactMap { HeaderField(line: $0) }
        )
    }

    // MARK: Directives

    @Test(arguments: [
        ("a, b", ["a", "b"]), (" a ,,\tb\t,", ["a", "b"]), ("a=\"b,c\", d", ["a=\"b,c\"", "d"]),
        ("a=\"b\\\",c\", d", ["a=\"b\\\",c\"", "d"]), ("a=\"b\\\\\", c", ["a=\"b\\\\\"", "c"]),
        ("a\\, b", ["a\\", "b"]), ("a\\\"b, c\"", ["a\\\"b, c\""]), ("", []), (" \t", []), ("\"a", ["\"a"]),
    ])
    func listIsSplitIntoItsMembers(list: String, members: [String]) {
        #expect(CacheControl.members(of: list).map { String($0) } == members)
    }

    @Test(
        arguments: [
            ("max-age=5", 5), ("Max-Age = 5", 5), ("max-age=\"5\"", 5), ("max-age=\"5", 0), ("max-age=5\"", 0),
            ("max-age=\"", 0), ("max-age=\"\"", 0), ("max-age", 0), ("max-age=-1", 0), ("max-age=5=6", 0),
            ("max-age=9, max-age=7", 7), ("no-cache", nil), ("max-age=2147483647", 2_147_483_647),
            ("max-age=2147483648", 2_147_483_648), ("max-age=2147483649", 2_147_483_648),
            ("max-age=99999999999999999999", 2_147_483_648),
        ] as [(String, Int64?)]
    )
    func secondsOfADirectiveAreParsed(value: String, seconds: Int64?) {
        let control = CacheControl([HeaderField("other", "max-age=1"), HeaderField("CACHE-control", value)])
        #expect(control.seconds("max-age") == seconds && control.contains("max-age") == (seconds != nil))
    }

    @Test(arguments: [
        (["Pragma: no-cache"], true), (["PRAGMA: x, No-Cache"], true), (["Pragma: x"], false),
        (["Pragma: no-cache", "Cache-Control: max-age=1"], false), (["Cache-Control: no-cache"], true),
        (["Other: no-cache"], false),
    ])
    func pragmaAppliesToRequestsWithoutCacheControl(fields: [String], has: Bool) {
        let headers = fields.compactMap { HeaderField(line: $0) }
        #expect(CacheControl(request: headers).contains("no-cache") == has)
        #expect(CacheControl(headers).contains("no-cache") == fields.contains("Cache-Control: no-cache"))
    }

    // MARK: Freshness

    private static func date(_ seconds: Int64) -> String { CacheBench.date(seconds) }

    @Test(
        arguments: [
            // The times of the request, of the response and of now, in seconds; the values of Date and Age; the
            // expected age.
            (1_000, 1_000, 1_000, nil, nil, 0), (1_000, 1_000, 1_007, nil, nil, 7), (1_000, 1_010, 1_030, nil, nil, 30),
            (1_000, 1_010, 1_030, 1_000, nil, 30), (1_000, 1_010, 1_030, 980, nil, 50),
            (1_000, 1_010, 1_030, 2_000, nil, 30),
            (1_000, 1_010, 1_030, nil, "7", 37), (1_000, 1_010, 1_030, 960, "7", 70),
            (1_000, 1_010, 1_030, nil, "x", 30),
            (1_010, 1_000, 1_030, nil, nil, 30), (1_000, 1_010, 1_009, nil, nil, 2_147_483_648),
            (1_000, 1_010, 1_010, nil, nil, 10),
        ] as [(Int64, Int64, Int64, Int64?, String?, Int64)]
    )
    func ageIsComputedFromDateAgeAndResponseDelay(
        requested: Int64,
        received: Int64,
        now: Int64,
        date: Int64?,
        age: String?,
        expected: Int64
    ) {
        let epoch = CacheBench.date(0)
        let zero = HTTPDate.seconds(epoch) ?? 0
        let fields = [date.map { "Date: \(Self.date($0))" }, age.map { "Age: \($0)" }].compactMap { $0 }
        let metadata = Self.metadata(fields, requested: zero + requested, received: zero + received)
        #expect(Freshness(metadata, kind: .segment, now: UnixSeconds(zero + now)).age == expected)
    }

    @Test(
        arguments: [
            ([], 0), (["Cache-Control: max-age=60"], 60), (["Cache-Control: max-age=60, no-cache"], 0),
            (["Date: 0", "Expires: 50"], 50), (["Expires: 1050"], 50), (["Date: 100", "Expires: 50"], 0),
            (["Date: 0", "Expires: 50", "Expires: 40"], 40), (["Date: 0", "Expires: 50", "Expires: never"], 0),
            (["Expires: 2000", "Last-Modified: -100000"], 1_000), (["Last-Modified: 0"], 100),
            (["Last-Modified: 1"], 99),
            (["Date: 500", "Last-Modified: 0"], 50), (["Last-Modified: -863000"], 86_400),
            (["Last-Modified: -862990"], 86_399),
            (["Last-Modified: 1001"], 0), (["Last-Modified: never"], 0), (["Cache-Control: s-maxage=5"], 0),
        ] as [([String], Int64)]
    )
    func lifetimeIsExplicitOrHeuristic(fields: [String], expected: Int64) {
        let zero = HTTPDate.seconds(CacheBench.date(0)) ?? 0
        let written = fields.map { field -> String in
            let parts = field.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts[0] != "Cache-Control", let seconds = Int64(parts[1]) else { return field }
            return "\(parts[0]): \(Self.date(seconds))"
        }
        let metadata = Self.metadata(written, requested: zero + 1_000, received: zero + 1_000)
        #expect(Freshness(metadata, kind: .segment, now: UnixSeconds(zero + 1_000)).lifetime == expected)
        let isGuess = written.allSatisfy { !$0.hasPrefix("Cache-Control") && !$0.hasPrefix("Expires") }
        let playlist = Freshness(metadata, kind: .playlist, now: UnixSeconds(zero + 1_000))
        #expect(playlist.lifetime == (isGuess ? 0 : expected))
    }

    @Test func responseIsFreshUntilItsLifetimeEnds() {
        func freshness(_ seconds: Int64) -> Freshness {
            Freshness(Self.metadata(["Cache-Control: max-age=60"]), kind: .segment, now: UnixSeconds(1_000 + seconds))
        }
        #expect(freshness(59).isFresh && freshness(59).staleness == -1)
        #expect(!freshness(60).isFresh && freshness(60).staleness == 0)
        #expect(freshness(75).staleness == 15)
    }

    // MARK: Requests

    @Test(arguments: [
        "authorization", "cookie", "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
        "if-range", "Authorization", "If-Range",
    ])
    func requestWithCredentialsOrConditionsBypassesTheCache(name: String) {
        #expect(!rules.handles(Self.request(["\(name): x"])))
        #expect(rules.handles(Self.request(["x-\(name): x"])))
    }

    @Test func cacheAppliesOnlyToPlainRequestsOfItsKinds() {
        #expect(rules.handles(Self.request()) && rules.handles(Self.request(kind: .playlist)))
        #expect(!rules.handles(Self.request(kind: .key)))
        #expect(rules.handles(Self.request(range: ByteRange(start: 0, length: 1))))
        #expect(!rules.handles(Self.request(range: ByteRange(start: 0, length: 0))))
        #expect(!rules.handles(Self.request([], "file:///a")) && !rules.handles(Self.request([], "https://u@h/a")))
        #expect(!rules.handles(Self.request(["Cache-Control: no-store"])))
        #expect(rules.handles(Self.request(["Cache-Control: no-cache"])))
        var resumed = Self.request()
        resumed.resumption = .init(offset: 1, validator: "x")
        #expect(!rules.handles(resumed))
    }

    @Test(arguments: [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "set-cookie", "set-cookie2", "te", "trailer", "transfer-encoding", "upgrade", "Set-Cookie",
        "x-named", "X-Other",
    ])
    func connectionFieldsAreNotStored(name: String) {
        let fields = [
            HeaderField("Connection", "close, X-Named"), HeaderField("ETag", "1"), HeaderField("connection", "x-other"),
            HeaderField("Via", "2"), HeaderField(name, "x"),
        ]
        #expect(rules.storedFields(of: fields) == [HeaderField("ETag", "1"), HeaderField("Via", "2")])
    }

    // MARK: Responses

    @Test(
        arguments: [
            (["Cache-Control: max-age=1"], 200, 1_000, true), (["Cache-Control: max-age=1"], 200, 1_001, false),
            (["Cache-Control: max-age=1"], 200, nil, true), (["Cache-Control: max-age=1"], 206, 5, false),
            (["Cache-Control: max-age=1"], 201, 5, false), (["Cache-Control: max-age=0"], 200, 5, false),
            (["Cache-Control: max-age=0", "ETag: 1"], 200, 5, true), (["ETag: \"\""], 200, 5, true),
            (["Last-Modified: 1 Jan 2020 0:0:0"], 200, 5, true), (["Last-Modified: never"], 200, 5, false),
            (["Cache-Control: no-store, max-age=1", "ETag: 1"], 200, 5, false), ([], 200, 5, false),
            (["Cache-Control: max-age=1", "Vary: A"], 200, 5, true),
            (["Cache-Control: max-age=1", "Vary: B, C"], 200, 5, false),
        ] as [([String], Int, Int64?, Bool)]
    )
    func responseIsStoredOnlyIfItsFieldsStatusAndSizeAllowIt(
        fields: [String],
        status: Int,
        length: Int64?,
        isKept: Bool
    ) {
        let request = Self.request(["c: 1"])
        #expect(rules.allowsStoring(Self.metadata(fields, status: status), length: length, of: request) == isKept)
    }

    @Test(
        arguments: [
            (206, 4, "Content-Range: bytes 3-6/10", true), (206, 4, "Content-Range: BYTES 3-6/*", true),
            (206, 4, "X: y", true),
            (206, 4, "Content-Range: bytes 3-7/10", false), (206, 4, "Content-Range: bytes 2-6/10", false),
            (206, 5, "Content-Range: bytes 3-6/10", false), (206, nil, "Content-Range: bytes 3-6/10", false),
            (200, 4, "Content-Range: bytes 3-6/10", false),
        ] as [(Int, Int64?, String, Bool)]
    )
    func rangeIsStoredOnlyIfItIsTheRequestedRange(status: Int, length: Int64?, position: String, isKept: Bool) {
        let range = ByteRange(start: 3, length: 4)
        let metadata = Self.metadata(["Cache-Control: max-age=1", position], status: status, range: range)
        #expect(rules.allowsStoring(metadata, length: length, of: Self.request(range: range)) == isKept)
    }

    @Test(arguments: [
        ("Accept-Encoding", ["accept-encoding: x"], true), ("Origin", [], true), ("Origin", ["origin: x"], false),
        ("*", [], false), ("Authorization", [], false), ("COOKIE", [], false),
        ("Accept-Encoding, Origin", ["Origin: x"], false),
        ("", ["Origin: x"], true),
    ])
    func responseMatchesRequestsAccordingToVary(vary: String, fields: [String], matches: Bool) {
        #expect(rules.matches(Self.metadata(["Vary: \(vary)"]), Self.request(fields)) == matches)
    }

    // MARK: Validation

    @Test func storedResponseIsValidatedByEntityTagAndDate() {
        let date = "Mon, 02 Mar 2026 10:00:00 GMT"
        #expect(
            Self.metadata(["ETag: W/\"1\"", "Last-Modified: \(date)"]).validationFields
                == [HeaderField("If-None-Match", "W/\"1\""), HeaderField("If-Modified-Since", date)]
        )
        #expect(Self.metadata(["Last-Modified: never", "ETag:"]).validationFields.isEmpty)
        #expect(Self.metadata(["Last-Modified: \(date)"]).validationFields.map(\.name) == ["If-Modified-Since"])
        #expect(Self.metadata(["ETag: 1"]).validationFields.map(\.name) == ["If-None-Match"])
    }

    @Test(
        arguments: [
            ("\"1\"", "\"1\"", true), ("\"1\"", "\"2\"", false), ("W/\"1\"", "\"1\"", true), ("\"1\"", "W/\"1\"", true),
            ("\"1\"", nil, true), (nil, "\"1\"", true), ("W/\"1\"", "W/\"2\"", false), ("W\"1\"", "\"1\"", false),
        ] as [(String?, String?, Bool)]
    )
    func validationSucceedsOnlyForTheSameEntityTag(own: String?, other: String?, isConfirmed: Bool) {
        let metadata = Self.metadata(own.map { ["ETag: \($0)"] } ?? [])
        #expect(metadata.isConfirmed(by: other.map { [HeaderField("etag", $0)] } ?? []) == isConfirmed)
    }

    @Test func validationReplacesAllFieldsExceptThoseOfTheBody() {
        var metadata = Self.metadata(["Content-Length: 5", "Age: 7", "Date: old", "ETag: 1", "X: 1", "X: 2", "Y: 1"])
        metadata.update(with: [
            HeaderField("content-length", "0"), HeaderField("Content-Encoding", "gzip"),
            HeaderField("Content-Range", "x"), HeaderField("Content-Type", "text/x"), HeaderField("x", "3"),
        ])
        #expect(
            metadata.headers == [
                HeaderField("Content-Length", "5"), HeaderField("ETag", "1"), HeaderField("Y", "1"),
                HeaderField("x", "3"),
            ]
        )
    }

    @Test(
        arguments: [
            // The directives of the response and of the request; the seconds since the response became stale; the
            // error.
            ("stale-if-error=10", "", 10, TransportError.Code.timedOut, nil, true),
            ("stale-if-error=10", "", 11, .timedOut, nil, false), ("", "stale-if-error=10", 10, .timedOut, nil, true),
            ("stale-if-error=5", "stale-if-error=10", 10, .timedOut, nil, true), ("", "", 0, .timedOut, nil, false),
            ("stale-if-error=10, no-cache", "", 1, .timedOut, nil, false),
            ("stale-if-error=10, must-revalidate", "", 1, .timedOut, nil, false),
            ("stale-if-error=10", "no-cache", 1, .timedOut, nil, false),
            ("stale-if-error=10", "max-age=9", 1, .timedOut, nil, false),
            ("stale-if-error=10", "", 1, .unknownHost, nil, true),
            ("stale-if-error=10", "", 1, .cannotConnect, nil, true),
            ("stale-if-error=10", "", 1, .connectionLost, nil, true),
            ("stale-if-error=10", "", 1, .insecure, nil, false),
            ("stale-if-error=10", "", 1, .wrongContent, nil, false), ("stale-if-error=10", "", 1, .status, 500, true),
            ("stale-if-error=10", "", 1, .status, 599, true), ("stale-if-error=10", "", 1, .status, 600, false),
            ("stale-if-error=10", "", 1, .status, 499, false), ("stale-if-error=10", "", 1, .status, nil, false),
        ] as [(String, String, Int64, TransportError.Code, Int?, Bool)]
    )
    func staleIfErrorAllowsAStaleResponseInsteadOfAnError(
        response: String,
        request: String,
        staleness: Int64,
        code: TransportError.Code,
        status: Int?,
        mayStandIn: Bool
    ) throws {
        let bench = CacheBench()
        let metadata = Self.metadata(["Cache-Control: max-age=60, \(response)"])
        let disk = try bench.disk()
        let candidate = CacheCandidate(
            entry: StoredEntry(
                file: EntryFile(name: metadata.key.name, serial: 1),
                disk: disk,
                tail: EntryTail(bodyLength: 0, blockChecksums: [], metadata: metadata)
            ),
            range: try #require(ByteRange(start: 0, length: 0)),
            firstBytes: ByteBuffer(),
            freshness: Freshness(
                Self.metadata(["Cache-Control: max-age=60"]),
                kind: .segment,
                now: UnixSeconds(1_060 + staleness)
            ),
            responseControl: CacheControl([HeaderField("Cache-Control", response)]),
            requestControl: CacheControl(request: [HeaderField("Cache-Control", request)])
        )
        #expect(candidate.isUsable(after: TransportError(code, "no", status: status)) == mayStandIn)
    }

    // MARK: Options

    @Test func optionsHaveTheDocumentedDefaults() {
        let options = DiskCache.Options()
        #expect(options.capacity == ByteCount(536_870_912) && options.maximumEntrySize == ByteCount(67_108_864))
        #expect(options.kinds == [.playlist, .segment, .initialization, .subtitle, .other])
        let other = DiskCache.Options(capacity: ByteCount(80), maximumEntrySize: ByteCount(70), kinds: [.key])
        #expect(other.capacity == ByteCount(80) && other.maximumEntrySize == ByteCount(70) && other.kinds == [.key])
    }
}

/// Tests the format of the files of the cache.
@Suite struct CacheFormatTests {
    @Test(
        arguments: [
            (0, 0xAE17_CCE9_ECC1_9BF4, 0xC13A_2D23_4C17_1420), (1, 0x0128_0959_4423_795A, 0x6DF5_2175_B484_1026),
            (7, 0xB6A7_6E96_49BB_5D6F, 0x97B7_362F_81C3_C5CF), (8, 0x7DD2_C943_46C4_9DEC, 0x04D6_DC22_6744_0B12),
            (9, 0x271A_B825_F0B1_3CBF, 0xE617_4B22_3128_89A5), (17, 0xE389_11B2_12C6_0F27, 0xE5AA_26D7_689D_4557),
        ] as [(Int, UInt64, UInt64)]
    )
    func checksumsHaveFixedValues(count: Int, expected: UInt64, expectedOfOtherSeed: UInt64) {
        let bytes = (0..<count).map { UInt8($0 + 1) }
        #expect(bytes.withUnsafeBytes { BlockChecksum.of($0) } == expected)
        #expect(bytes.withUnsafeBytes { BlockChecksum.of($0, seed: ~BlockChecksum.seed) } == expectedOfOtherSeed)
        // The checksum does not depend on how the bytes are divided.
        for split in 0...count {
            var checksum = BlockChecksum()
            bytes[..<split].withUnsafeBytes { checksum.update($0) }
            bytes[split...].withUnsafeBytes { checksum.update($0) }
            #expect(checksum.value == expected, "divided after \(split)")
        }
    }

    private func file(_ number: UInt64, serial: UInt64 = 0) -> EntryFile {
        EntryFile(name: EntryName(high: number, low: number), serial: serial)
    }

    @Test func fileNameConsistsOfKeyHashAndSerial() {
        let file = EntryFile(name: EntryName(high: 0xAB, low: .max), serial: 0x1F)
        #expect(file.fileName == "millstream-00000000000000abffffffffffffffff-000000000000001f.entry")
        #expect(file.partialFileName == "millstream-00000000000000abffffffffffffffff-000000000000001f.part")
        for name in [
            "millstream-00000000000000abffffffffffffffff-000000000000001f", "x.entry", ".entry",
            "millstone-00000000000000abffffffffffffffff-000000000000001f.entry",
            "millstream-0000000000000abffffffffffffffff-000000000000001f.entry",
            "millstream-000000000000000abffffffffffffffff-000000000000001f.entry",
            "millstream-00000000000000abffffffffffffffff-00000000000001f.entry",
            "millstream-00000000000000abffffffffffffffff-000000000000001g.entry",
            "millstream-00000000000000abffffffffffffffff-000000000000001F.entry",
            "millstream-00000000000000/bffffffffffffffff-000000000000001f.entry",
            "millstream-00000000000000abffffffffffffffff-000000000000001f-0.entry",
            "millstream-00000000000000abffffffffffff:fff-000000000000001f.entry",
            "millstream-00000000000000abffffffffffff`fff-000000000000001f.entry",
        ] {
            #expect(EntryFile(fileName: name) == nil, "\(name)")
        }
    }

    @Test func usesAreOrderedEvenIfTheClockIsNotMonotonic() {
        var index = EntryIndex(capacity: 1 << 20)
        #expect(index.reserve(8_192) == [])
        #expect(index.insert(file(1), size: 4_096, now: UnixSeconds(5)).use == 5_000_000_000)
        #expect(index.insert(file(2), size: 4_096, now: UnixSeconds(5)).use == 5_000_000_001)
        #expect(index.markUsed(file(1), now: UnixSeconds(7)) == 7_000_000_000)
        #expect(index.markUsed(file(2), now: UnixSeconds(6)) == 7_000_000_001)
        #expect(index.markUsed(file(1), now: UnixSeconds(.max)) == 7_000_000_002)
        #expect(index.markUsed(file(3), now: UnixSeconds(9)) == nil)
        #expect(index.insertExisting(file(3), size: 1, lastUse: 9_000_000_000) == nil)
        #expect(index.insertExisting(file(4), size: 1, lastUse: 8_000_000_000) == nil)
        #expect(index.markUsed(file(1), now: UnixSeconds(1)) == 9_000_000_001)
        #expect(index.count == 4 && index.storedBytes == 8_194 && index.generation == 0)
    }

    @Test func spaceOfStoredReservedAndEvictedFilesIsCounted() throws {
        var index = EntryIndex(capacity: 1_000)
        #expect(index.reserve(1_001) == nil)
        #expect(index.reserve(1_000) == [])
        #expect(index.reserve(1) == nil)
        index.release(100)
        #expect(index.reserve(100) == [])
        for (number, size) in [(1, 300), (2, 300), (3, 400)] as [(UInt64, Int64)] {
            #expect(index.insert(file(number), size: size, now: UnixSeconds(Int64(number))).replaced == nil)
        }
        #expect(index.storedBytes == 1_000)
        // 301 bytes need the space of two entries, which is in use until their files are deleted.
        let reserved = index.reserve(301)
        let victims = try #require(reserved)
        #expect(victims.map(\.file) == [file(1), file(2)] && victims.map(\.size) == [300, 300])
        #expect(index.storedBytes == 400 && index.count == 1)
        #expect(index.reserve(100) == nil)
        index.releaseSpace(of: victims[0])
        #expect(index.reserve(399)?.map(\.file) == [file(3)])
        #expect(index.reserve(1) == nil)
    }

    @Test func growingEntryUsesItsReservedSpace() {
        var index = EntryIndex(capacity: 1_000)
        #expect(index.reserve(400) == [])
        _ = index.insert(file(1), size: 400, now: UnixSeconds(1))
        #expect(index.reserve(200) == [])
        index.resize(file(1), to: 600, reserved: 200)
        #expect(index.storedBytes == 600)
        #expect(index.reserve(400) == [])
        index.release(400)
        index.resize(file(1), to: 500, reserved: 0)
        #expect(index.storedBytes == 500)
        #expect(index.reserve(300) == [])
        index.resize(file(1, serial: 9), to: 900, reserved: 300)
        #expect(index.storedBytes == 500, "the file is not that of the entry")
        #expect(index.reserve(500) == [])
        let removed = index.removeAll()
        #expect(removed.map(\.file) == [file(1)] && index.count == 0 && index.storedBytes == 0 && index.generation == 1)
        #expect(index.reserve(1) == nil)
        for entry in removed { index.releaseSpace(of: entry) }
        #expect(index.reserve(500) == [] && index.reserve(1) == nil)
    }

    // MARK: Tails

    private static func metadata(_ fields: [HeaderField] = [HeaderField("ETag", "\"1\"")]) -> EntryMetadata {
        EntryMetadata(
            key: EntryKey(address: ResourceAddress("http://h/a"), byteRange: nil),
            status: 200,
            address: ResourceAddress("http://h/b"),
            requested: UnixSeconds(1),
            received: UnixSeconds(2),
            headers: fields
        )
    }

    @Test(arguments: [0, 1, 65_536, 65_537, 131_072])
    func tailRoundTripsAndDamagedTailIsRejected(length: Int) throws {
        let bench = CacheBench()
        let disk = try bench.disk()
        let body = ByteBuffer(repeating: 7, count: length)
        let blocks = (length + 65_535) / 65_536
        let tail = EntryTail(
            bodyLength: Int64(length),
            blockChecksums: (0..<blocks).map { UInt64($0 + 5) },
            metadata: Self.metadata()
        )
        let bytes = try #require(tail.encoded())
        #expect(bytes.readableBytes == 8 * blocks + Self.metadata().encoded().readableBytes + 32)
        #expect(disk.write(body, at: 0) && disk.write(bytes, at: Int64(length)))
        #expect(disk.size == Int64(length + bytes.readableBytes) && EntryTail.isComplete(disk))
        let read = try #require(EntryTail(of: disk))
        #expect(read.bodyLength == Int64(length) && read.metadata == Self.metadata())
        #expect(read.blockChecksums == tail.blockChecksums)
        for index in 0..<bytes.readableBytes {
            var damaged = bytes
            let byte = try #require(bytes.getInteger(at: index, as: UInt8.self))
            damaged.setInteger(byte ^ 0x10, at: index)
            #expect(disk.write(damaged, at: Int64(length)))
            #expect(EntryTail(of: disk) == nil, "byte \(index) of the tail")
        }
        // A file that is truncated or has an additional byte is not complete.
        #expect(disk.write(bytes, at: Int64(length)) && EntryTail.isComplete(disk))
        #expect(
            disk.write(ByteBuffer(bytes: [0]), at: Int64(length + bytes.readableBytes)) && !EntryTail.isComplete(disk)
        )
        #expect(disk.truncate(to: Int64(length + bytes.readableBytes - 1)) && !EntryTail.isComplete(disk))
        #expect(disk.truncate(to: 31) && !EntryTail.isComplete(disk) && EntryTail(of: disk) == nil)
    }

    @Test func metadataIsLimitedTo256KiB() {
        func tail(_ count: Int) -> ByteBuffer? {
            let text = String(repeating: "x", count: count)
            return EntryTail(bodyLength: 0, blockChecksums: [], metadata: Self.metadata([HeaderField("A", text)]))
                .encoded()
        }
        let rest = Self.metadata([HeaderField("A", "")]).encoded().readableBytes
        #expect(tail(262_144 - rest) != nil && tail(262_145 - rest) == nil)
    }
}
