import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import ResourceAddressing
import Synchronization
import Testing

struct SegmentIndexLoadingTests {
    private static func manifest(_ ids: [String]) -> String {
        let representations = ids.map { id in
            #"<Representation id="\#(id)" bandwidth="1" codecs="avc1.64001f"><BaseURL>\#(id).mp4</BaseURL>"#
                + #"<SegmentBase indexRange="100-143"/></Representation>"#
        }
        return TestOrigin.manifest(
            #"<Period><AdaptationSet mimeType="video/mp4">\#(representations.joined())</AdaptationSet></Period>"#,
            attributes: #"mediaPresentationDuration="PT4S""#
        )
    }

    /// A file with an index of one segment of four seconds in 1,000 bytes.
    private static let file: [UInt8] = {
        let fields: [UInt32] = [44, 0x7369_6478, 0, 1, 1, 0, 0, 1, 1_000, 4, 0x9000_0000]
        let box = fields.flatMap { field in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: field >> $0) } }
        return [UInt8](repeating: 0, count: 100) + box + [UInt8](repeating: 0, count: 1_000)
    }()

    private static func url(_ id: String) -> String { "https://example.test/a/\(id).mp4" }

    @Test func onlyTheRangesOfIndexesAreLoadedAndEachOnce() async throws {
        let origin = TestOrigin([TestOrigin.address: Self.manifest(["a", "b", "c"])])
        for id in ["a", "b", "c"] { origin.transport.setResponses(for: Self.url(id), .bytes(Self.file)) }
        let variants = try await origin.multivariant().variants
        #expect(variants.count == 3)
        for variant in variants {
            let segment = try #require(try await origin.media(variant.address.text).segments.first)
            #expect(segment.byteRange == ByteRange(start: 144, length: 1_000))
        }
        let requests = origin.transport.requests.dropFirst()
        #expect(requests.count == 3)
        #expect(requests.allSatisfy { $0.byteRange == ByteRange(start: 100, length: 44) })
    }

    private static func box(_ type: String, size: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + Array(type.utf8)
            + [UInt8](repeating: 0, count: size - 8)
    }

    /// A manifest of a file whose segment index it does not declare, and the file: the index is behind other boxes.
    @Test(arguments: [0, 30_000], [#"<SegmentBase/>"#, ""])
    func indexWithoutARangeIsFoundAtTheStartOfTheFile(_ padding: Int, _ information: String) async throws {
        let origin = TestOrigin([
            TestOrigin.address: TestOrigin.manifest(
                """
                <Period><AdaptationSet mimeType="video/mp4"><Representation id="a" bandwidth="1" codecs="avc1.64001f">
                <BaseURL>a.mp4</BaseURL>\(information)</Representation></AdaptationSet></Period>
                """,
                attributes: #"mediaPresentationDuration="PT4S""#
            )
        ])
        let head = Self.box("ftyp", size: 24) + Self.box("moov", size: 100 + padding)
        origin.transport.setResponses(for: Self.url("a"), .bytes(head + Self.file.dropFirst(100)))
        let variant = try #require(try await origin.multivariant().variants.first)
        let segment = try #require(try await origin.media(variant.address.text).segments.first)
        #expect(segment.byteRange == ByteRange(start: Int64(head.count + 44), length: 1_000))
        #expect(segment.map?.byteRange == ByteRange(start: 0, length: Int64(head.count)))
        let fields = origin.transport.requests.dropFirst().compactMap { $0.headers.first?.value }
        #expect(fields == (padding == 0 ? ["bytes=0-16383"] : ["bytes=0-16383", "bytes=0-262143"]))
    }

    /// Base URLs are resolved against each other, and another scheme between them does not permit what the manifest must not name.
    @Test(arguments: ["x:/", "file:///a/", "https://other.test/"])
    func remoteManifestHasNoIndexInALocalFile(base: String) async throws {
        let origin = TestOrigin([
            TestOrigin.address: TestOrigin.manifest(
                """
                <BaseURL>\(base)</BaseURL><Period><BaseURL>file:///etc/x</BaseURL><AdaptationSet mimeType="video/mp4">
                <Representation id="a" bandwidth="1" codecs="avc1.64001f"><SegmentBase indexRange="100-143"/>
                </Representation></AdaptationSet></Period>
                """,
                attributes: #"mediaPresentationDuration="PT4S""#
            )
        ])
        origin.transport.setResponses(for: "file:///etc/x", .bytes(Self.file))
        await #expect(throws: (any Error).self) { _ = try await origin.multivariant() }
        #expect(origin.transport.requestedAddresses.allSatisfy { !$0.hasPrefix("file:") })
    }

    /// A file whose media begins without an index, and one that ends before it.
    @Test(arguments: ["mdat", "moof", "free"]) func fileWithoutAnIndexIsRefused(_ type: String) async throws {
        let origin = TestOrigin([
            TestOrigin.address: TestOrigin.manifest(
                """
                <Period><AdaptationSet mimeType="video/mp4"><Representation id="a" bandwidth="1" codecs="avc1.64001f">
                <BaseURL>a.mp4</BaseURL></Representation></AdaptationSet></Period>
                """,
                attributes: #"mediaPresentationDuration="PT4S""#
            )
        ])
        origin.transport.setResponses(
            for: Self.url("a"),
            .bytes(Self.box("moov", size: 100) + Self.box(type, size: 100))
        )
        let error = await #expect(throws: TransportError.self) { _ = try await origin.multivariant() }
        #expect(error?.message.contains("index") ?? false)
        #expect(origin.transport.requests.count == 2)
    }

    @Test func representationWithoutItsIndexIsLeftOutWithANote() async throws {
        let collected = NoteList()
        let origin = TestOrigin([TestOrigin.address: Self.manifest(["a", "b"])]) {
            $0.reportProblem = { collected.add($0) }
        }
        origin.transport.setResponses(for: Self.url("b"), .bytes(Self.file))
        #expect(try await origin.multivariant().variants.count == 1)
        #expect(collected.all.count == 1 && collected.all[0].contains("a.mp4"))
    }

    @Test func serverThatCannotBeReachedFailsTheLoadAndWhatWasLoadedIsNotLoadedAgain() async throws {
        let origin = TestOrigin([TestOrigin.address: Self.manifest(["a", "b"])])
        origin.transport.setResponses(for: Self.url("a"), .bytes(Self.file))
        origin.transport.setResponses(
            for: Self.url("b"),
            .failure(TransportError(.cannotConnect, "refused")),
            .bytes(Self.file)
        )
        let error = await #expect(throws: TransportError.self) { try await origin.playlist() }
        #expect(error?.code == .cannotConnect)
        #expect(
            try await origin.media(TestOrigin.address + "#millstream-playlist=video-b.m3u8").segments.count == 1
        )
        #expect(origin.requestCount() == 1)
        #expect(origin.requestCount(Self.url("a")) == 1)
    }

    @Test func failureOfTheOnlyIndexIsTheReason() async throws {
        let origin = TestOrigin([TestOrigin.address: Self.manifest(["a"])])
        origin.transport.setResponses(
            for: Self.url("a"),
            .failure(TransportError(.addressRefused, "loading this URL is not allowed"))
        )
        let error = await #expect(throws: TransportError.self) { try await origin.playlist() }
        #expect(error?.code == .addressRefused)
    }

    @Test func loadsOfIndexesAreLimited() async throws {
        let ids = (0..<20).map { "r\($0)" }
        let origin = TestOrigin([TestOrigin.address: Self.manifest(ids)]) { $0.indexLoadCount = 5 }
        for id in ids { origin.transport.setResponses(for: Self.url(id), .bytes(Self.file)) }
        #expect(try await origin.multivariant().variants.count == 5)
        #expect(origin.transport.requests.count == 6)
        let small = TestOrigin([TestOrigin.address: Self.manifest(ids)]) { $0.indexSize = ByteCount(40) }
        for id in ids { small.transport.setResponses(for: Self.url(id), .bytes(Self.file)) }
        let error = await #expect(throws: TransportError.self) { try await small.playlist() }
        #expect(error?.code == .tooLarge)
    }
}

/// The messages about problems, in order.
private final class NoteList: Sendable {
    private let notes = Mutex<[String]>([])
    var all: [String] { notes.withLock { $0 } }
    func add(_ note: String) { notes.withLock { $0.append(note) } }
}
