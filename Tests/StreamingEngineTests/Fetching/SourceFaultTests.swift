import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Tests of the recognition of resources by their first bytes, and of what is loaded for it.
@Suite struct SourceFaultTests {
    private static let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmedia.m3u8\n"
    private static let film = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\ns.ts\n#EXT-X-ENDLIST\n"
    private static let root = "https://origin.example/"

    private static func opener(
        _ response: ScriptedTransport.Response,
        kind: SourceOpener.Kind? = nil,
        variables: [String: String] = [:]
    ) -> SourceOpener {
        let transport = ScriptedTransport([FileBytes.address.text: [response]])
        return SourceOpener(fetch: FileBytes.fetcher(transport), kind: kind, variables: variables)
    }

    private static func error(_ text: String, kind: SourceOpener.Kind? = nil) async -> StreamingError? {
        await #expect(throws: StreamingError.self) {
            _ = try await opener(.text(text), kind: kind).open(FileBytes.address)
        }
    }

    /// Returns the beginning and the size of an opened file; `nil` for a playlist.
    private static func file(
        _ opened: SourceOpener.Opened
    ) -> (head: [UInt8], address: ResourceAddress, length: Int64?)? {
        guard case .file(let head, let address, let length) = opened else { return nil }
        return (head, address, length)
    }

    // MARK: Opening

    @Test func reportOfARequestHasTheKindOfItsResource() async throws {
        let main = try await Self.opener(.text(Self.main)).open(FileBytes.address)
        #expect(main.request.kind == .multivariantPlaylist && main.request.status == 200)
        #expect(main.request.bytes == ByteCount(Int64(Self.main.utf8.count)))
        let media = try await Self.opener(.text(Self.film), kind: .playlist).open(FileBytes.address)
        #expect(media.request.kind == .mediaPlaylist)
        let bytes = FileBytes.wave(100)
        let file = try await Self.opener(.bytes(bytes)).open(FileBytes.address)
        #expect(file.request.kind == .other && file.request.bytes == ByteCount(144))
        let opened = try #require(Self.file(file.opened))
        #expect(opened.head == bytes && opened.address == FileBytes.address && opened.length == 144)
    }

    @Test func resourceOfTheKindFileIsNotParsed() async throws {
        let result = try await Self.opener(.text(Self.film), kind: .file).open(FileBytes.address)
        let opened = try #require(Self.file(result.opened))
        #expect(opened.head == Array(Self.film.utf8) && opened.length == Int64(opened.head.count))
        #expect(result.request.kind == .other)
    }

    @Test func contentThatIsNoPlaylistIsRefusedWithTheReason() async {
        let page = await Self.error("<html><body>no</body></html>")
        #expect(page?.code == .notRecognized && page?.message.hasPrefix("this is a web page, which is neither") == true)
        let text = await Self.error("some text")
        #expect(text?.code == .notRecognized && text?.message.hasPrefix("this is neither") == true)
        let manifest = await Self.error("<MPD></MPD>")
        #expect(manifest?.code == .needsTranslation)
        let expected = await Self.error("<MPD></MPD>", kind: .playlist)
        #expect(expected?.code == .needsTranslation && expected?.address == FileBytes.address)
        let other = await Self.error("some text", kind: .playlist)
        #expect(other?.code == .unreadablePlaylist && other?.address == FileBytes.address && other?.cause != nil)
    }

    @Test func mediaWithoutAnIndexIsAFile() async throws {
        let packet = [0x47] + [UInt8](repeating: 0, count: 187)
        let contents: [[UInt8]] = [Array("....ftypisom".utf8), packet + packet, Array("fLaC....".utf8)]
        for bytes in contents {
            let opened = try await Self.opener(.bytes(bytes)).open(FileBytes.address).opened
            let file = try #require(Self.file(opened))
            #expect(file.head == bytes && file.length == Int64(bytes.count))
        }
    }

    @Test func variablesThatAPlaylistImportsMustBeDefined() async throws {
        let text = Self.film.replacing("#EXTINF", with: "#EXT-X-DEFINE:IMPORT=\"v\"\n#EXTINF")
        let error = await Self.error(text)
        #expect(error?.code == .unreadablePlaylist)
        _ = try await Self.opener(.text(text), variables: ["v": "1"]).open(FileBytes.address)
    }

    @Test func parametersThatAPlaylistRequiresMustBeInItsAddress() async throws {
        let text = Self.main.replacing("#EXT-X-STREAM", with: "#EXT-X-DEFINE:QUERYPARAM=\"q\"\n#EXT-X-STREAM")
        let error = await Self.error(text)
        #expect(error?.code == .unreadablePlaylist)
    }

    @Test(arguments: [false, true]) func cacheIsBypassedOnRequest(isBypassed: Bool) async throws {
        let transport = FileBytes.transport(Array(Self.film.utf8))
        var opener = SourceOpener(fetch: FileBytes.fetcher(transport))
        opener.bypassesCache = isBypassed
        _ = try await opener.open(FileBytes.address)
        let fields = isBypassed ? [HeaderField("Cache-Control", "no-cache")] : []
        #expect(transport.requests.map(\.headers) == [fields])
        #expect(transport.requests.map(\.kind) == [.playlist])
    }

    // MARK: Beginnings

    /// The body ends before the announced length, so that its end is an error.
    @Test(arguments: [(65_535, false), (65_536, true)])
    func beginningOfAFileHasSixtyFourKibibytes(count: Int, suffices: Bool) async throws {
        let bytes = FileBytes.wave(count - 44)
        let opener = Self.opener(.truncated(bytes, announced: 100_000))
        if suffices {
            let opened = try await opener.open(FileBytes.address).opened
            let file = try #require(Self.file(opened))
            #expect(file.head == bytes && file.length == 100_000)
        } else {
            await #expect(throws: TransportError.self) { _ = try await opener.open(FileBytes.address) }
        }
    }

    @Test func beginningOfAPlaylistDoesNotSuffice() async throws {
        let comments = String(repeating: "# a comment\n", count: 6_000)
        let bytes = Array(Self.film.replacing("#EXTINF", with: comments + "#EXTINF").utf8)
        let whole = try await Self.opener(.bytes(bytes)).open(FileBytes.address).opened
        #expect(Self.file(whole) == nil)
        let cut = Self.opener(.truncated(bytes, announced: 100_000))
        await #expect(throws: TransportError.self) { _ = try await cut.open(FileBytes.address) }
        // The rest of a web page is not loaded.
        let page = Array(("<html>" + comments).utf8)
        let other = Self.opener(.truncated(page, announced: 100_000))
        let error = await #expect(throws: StreamingError.self) { _ = try await other.open(FileBytes.address) }
        #expect(error?.code == .notRecognized)
        let playlist = Self.opener(.truncated(page, announced: 100_000), kind: .playlist)
        await #expect(throws: TransportError.self) { _ = try await playlist.open(FileBytes.address) }
        let part = Self.opener(.truncated(page, announced: 100_000), kind: .file)
        let opened = try await part.open(FileBytes.address).opened
        let file = try #require(Self.file(opened))
        #expect(file.head == page && file.length == 100_000)
    }

    @Test(arguments: [(nil, false), (9, true)] as [(Int64?, Bool)])
    func sizeIsRequiredForTheIndexOfSomeFormats(length: Int64?, hasIndex: Bool) {
        let request = TransportRequest(FileBytes.address, kind: .playlist)
        let response = TransportResponse(to: request, expectedLength: length, body: TransportBody([UInt8]()))
        #expect(SourceOpener.hasMediaIndex(Array("fLaC....".utf8), response) == hasIndex)
        #expect(SourceOpener.hasMediaIndex(Array("....ftypisom".utf8), response))
        #expect(!SourceOpener.hasMediaIndex(Array("some text".utf8), response))
    }

    // MARK: Readers

    @Test func readerOfAFileReadsItsSegments() async throws {
        let bytes = FileBytes.wave(1_200, declared: 2_400)
        let loader = FileBytes.fetcher(FileBytes.transport(bytes)).loader
        guard case .file(let reader) = try await MediaReader.open(FileBytes.address, loader: loader) else {
            Issue.record("the file was not opened")
            return
        }
        #expect(reader.count == 2 && reader.fileContainer == .wave && reader.fileTracks.map(\.codec) == ["pcm"])
        #expect(reader.fileSize == 1_244 && reader.missingLength == 1_200 && reader.fileProblem == nil)
        #expect(reader.missingLengthText == "its last 1.20 kB are missing")
        #expect(reader.declaredDuration == MediaTime(seconds: 24) && reader.fileMetadata == MediaFileMetadata())
        for position in 0..<2 {
            let segment = try await reader.segment(at: position)
            let place = try #require(segment.filePosition)
            #expect(place.offset == Int64(44 + position * 600) && place.isLast == (position == 1))
            #expect(place.container == .wave && segment.type == .muxed && segment.byteCount == 600)
            #expect(segment.range.start == MediaTime(seconds: Int64(position * 6)))
            #expect(segment.discontinuityDomain == .init(playlist: FileBytes.address.text, sequence: 0))
        }
    }

    @Test func contentThatIsNoMediaFileIsADocument() async throws {
        let bytes = Array(Self.film.utf8)
        let loader = FileBytes.fetcher(FileBytes.transport(bytes)).loader
        let content = try await MediaReader.open(FileBytes.address, loader: loader)
        guard case .document(let found, let address) = content else {
            Issue.record("the document was not returned")
            return
        }
        #expect(found == bytes && address == FileBytes.address)
    }

    private static let encrypted = """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-MEDIA-SEQUENCE:3
        #EXT-X-GAP
        #EXTINF:6,
        a.ts
        #EXT-X-DISCONTINUITY
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"
        #EXTINF:5,
        b.ts
        #EXTINF:4,
        c.ts
        #EXT-X-ENDLIST

        """

    @Test func readerOfAPlaylistHasNoFile() async throws {
        let transport = ScriptedTransport([
            Self.root + "b.ts": [.text("media")], Self.root + "key": [.bytes([UInt8](repeating: 7, count: 16))],
        ])
        let playlist = try media(Self.encrypted, at: Self.root + "p.m3u8")
        let reader = MediaReader(playlist, loader: FileBytes.fetcher(transport).loader)
        #expect(reader.count == 3 && reader.fileTracks.isEmpty && reader.fileSize == nil && reader.fileContainer == nil)
        #expect(reader.missingLength == nil && reader.missingLengthText == nil && reader.fileProblem == nil)
        #expect(reader.declaredDuration == MediaTime(seconds: 15) && reader.fileMetadata == MediaFileMetadata())
        let gap = try await reader.segment(at: 0)
        guard case .gap = gap.content else {
            Issue.record("the gap has media")
            return
        }
        #expect(gap.sampleProtection == nil && gap.filePosition == nil && gap.byteCount == 0)
        let segment = try await reader.segment(at: 1)
        #expect(segment.byteCount == 5 && segment.filePosition == nil)
        #expect(segment.sampleProtection?.method == "SAMPLE-AES" && segment.sampleProtection?.key.first == 7)
        #expect(segment.sampleProtection?.initializationVector == nil)
        #expect(segment.discontinuityDomain == .init(playlist: Self.root + "p.m3u8", sequence: 1))
        #expect(segment.range == MediaTimeRange(start: MediaTime(seconds: 6), end: MediaTime(seconds: 11)))
        let error = await #expect(throws: StreamingError.self) { _ = try await reader.segment(at: 2) }
        #expect(error?.status == 404 && error?.address?.text == Self.root + "c.ts")
    }

    @Test(arguments: [(5, true), (4, false)])
    func sizeOfASegmentThatAReaderLoadsIsLimited(size: Int64, isLoaded: Bool) async throws {
        let transport = ScriptedTransport([Self.root + "s.ts": [.text("media")]])
        let playlist = try media(Self.film, at: Self.root + "p.m3u8")
        let reader = MediaReader(
            playlist,
            loader: FileBytes.fetcher(transport).loader,
            maximumSegmentSize: ByteCount(size)
        )
        if isLoaded {
            let segment = try await reader.segment(at: 0)
            #expect(segment.byteCount == 5)
        } else {
            let error = await #expect(throws: StreamingError.self) { _ = try await reader.segment(at: 0) }
            #expect(error?.message.contains("segment 0 is too large") == true)
        }
    }

    @Test func readerBeginsAtTheDateOfTheOther() throws {
        let loader = FileBytes.fetcher(ScriptedTransport()).loader
        func reader(_ window: LiveWindowText) throws -> MediaReader { MediaReader(try window.playlist, loader: loader) }
        let reference = try reader(LiveWindowText(dateOfZero: 1_000))
        #expect(try reader(LiveWindowText(dateOfZero: 1_008)).start(byDatesOf: reference) == MediaTime(seconds: 8))
        #expect(try reader(LiveWindowText()).start(byDatesOf: reference) == nil)
        #expect(reference.dateRanges.isEmpty)
    }
}
