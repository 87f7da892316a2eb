import AssetStorage
import HLSPlaylist
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import SegmentFormat
import Synchronization
import Testing

@testable import MillstreamDownloads

/// Tests that a key given for segments with encrypted samples must decrypt the samples.
@Suite(.timeLimit(.minutes(5))) struct SampleKeyCheckTests {
    private static let base = "https://films.example/"
    private static let key = Array("0123456789abcdef".utf8)
    private static let wrongKey = Array("fedcba9876543210".utf8)
    private static let vector = [UInt8](repeating: 0, count: 15) + [7]

    private static func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.utf8.count, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
    }

    /// The last blocks of AAC frames, encrypted with `key` and `vector`.
    private static let blocks = [
        "6ad7a5456612543a3095d9df4aa6b3e4", "f0f457d56dea76d3e0079e65f7f825d7ba7075bda415dfc8e6bc3048008fc4ef",
    ].map { bytes($0) }

    /// An AC-3 frame of 128 bytes, encrypted with `key` and `vector`.
    private static let ac3 = bytes(
        "0b7700000040200708090a0b0c0d0e0f08c434c57668eef2ca328a194b06287fd600cf7e33758e105b8f5c8911cafa94"
            + "65d59a0fe0b34ac918234fb4471a5014d4a21243953adf6c0dfbe7f008138d79d095cb05132312b9cababc59d2a363bb"
            + "907066d1b3fc87a8d4ee5f012b11b63763f56697a3b250f815839deab49aeae2"
    )

    /// Returns an AAC frame with encrypted blocks, and possibly clear bytes after them.
    private static func frame(_ encrypted: [UInt8], rest: [UInt8] = []) -> [UInt8] {
        let content = [UInt8](repeating: 0x21, count: 16) + encrypted + rest
        let length = content.count + 7
        let header: [UInt8] = [
            0xFF, 0xF1, 0x4C, 0x80, UInt8(length >> 3), UInt8(length & 7) << 5 | 0x1F, 0xFC,
        ]
        return header + content
    }

    /// A segment of packed audio.
    ///
    /// Its frames alternate between one block and two blocks.
    private static let packedAudio = (0..<8).flatMap { frame(blocks[$0 % 2]) }

    // MARK: Transport streams

    /// Returns the packets of a transport stream with a table or a PES packet.
    private static func packets(_ pid: Int, _ payload: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for start in stride(from: 0, to: payload.count, by: 184) {
            let part = payload[start..<min(payload.count, start + 184)]
            let stuffing = 184 - part.count
            let control: UInt8 = (stuffing > 0 ? 0x30 : 0x10) | UInt8(start / 184 & 15)
            let flag: UInt8 = start == 0 ? 0x40 : 0
            let header: [UInt8] = [0x47, flag | UInt8(pid >> 8), UInt8(pid & 0xFF), control]
            result += header
            if stuffing > 0 { result.append(UInt8(stuffing - 1)) }
            if stuffing > 1 {
                result.append(0)
                result += [UInt8](repeating: 0xFF, count: stuffing - 2)
            }
            result += part
        }
        return result
    }

    /// Returns a transport stream with one elementary stream.
    private static func transportStream(_ media: [UInt8], type: UInt8) -> [UInt8] {
        let association: [UInt8] = [0, 0, 0xB0, 13, 0, 1, 0xC1, 0, 0, 0, 1, 0xE1, 0, 0, 0, 0, 0]
        let map: [UInt8] = [
            0, 2, 0xB0, 18, 0, 1, 0xC1, 0, 0, 0xE1, 1, 0xF0, 0, type, 0xE1, 1, 0xF0, 0, 0, 0, 0, 0,
        ]
        let header: [UInt8] = [0, 0, 1, 0xC0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1]
        return packets(0, association) + packets(0x100, map) + packets(0x101, header + media)
    }

    // MARK: Frames

    private static func audio(of segment: [UInt8], atMost count: Int = 100) -> SampleEncryptedAudio? {
        SampleEncryptedAudio(segment.span, maximumFrameCount: count)
    }

    @Test func framesOfPackedAudioAndTransportStreamsAreTheSame() throws {
        let audio = try #require(Self.audio(of: Self.packedAudio))
        #expect(audio.frames.map(\.bytes.count) == [39, 55, 39, 55, 39, 55, 39, 55])
        #expect(audio.frames.allSatisfy { $0.container == .aac && $0.clearCount == 23 })
        let stream = Self.transportStream(Self.packedAudio, type: 0xCF)
        #expect(Self.audio(of: stream) == audio)
        #expect(Self.audio(of: stream, atMost: 3)?.frames == Array(audio.frames.prefix(3)))
        // The samples of another type of stream are clear.
        let clear = Self.transportStream(Self.packedAudio, type: 0x0F)
        #expect(Self.audio(of: clear) == nil)
        #expect(Self.audio(of: Array("WEBVTT\n\n".utf8)) == nil)
    }

    @Test(arguments: [false, true]) func audioTellsWhetherTheKeyMatches(matches: Bool) {
        let key = matches ? Self.key : Self.wrongKey
        let segments = [
            Self.packedAudio, Self.transportStream(Self.packedAudio, type: 0xCF),
            (0..<4).flatMap { _ in Self.ac3 }, Self.transportStream((0..<4).flatMap { _ in Self.ac3 }, type: 0xC1),
        ]
        for segment in segments {
            #expect(SampleKeyCheck.matches(key, vector: Self.vector, segment) == matches)
        }
    }

    /// The last bytes of a frame are clear unless the frame ends with a whole block.
    ///
    /// The end of one frame can be valid by chance.
    @Test func framesThatDoNotTellAreNotCounted() {
        let clear = (0..<8).flatMap { _ in Self.frame(Self.blocks[0], rest: [0xE0]) }
        #expect(SampleKeyCheck.matches(Self.wrongKey, vector: Self.vector, clear) == nil)
        let short = (0..<8).flatMap { _ in Self.frame([]) }
        #expect(SampleKeyCheck.matches(Self.wrongKey, vector: Self.vector, short) == nil)
        let few = (0..<3).flatMap { Self.frame(Self.blocks[$0 % 2]) }
        #expect(SampleKeyCheck.matches(Self.wrongKey, vector: Self.vector, few) == nil)
    }

    @Test(
        arguments: [
            ([1, 0xE0], true), ([0x07, 0], true), ([1, 0x80], false), ([3, 0x80], true), ([0x80], true),
            ([0xC8], false), ([0, 0], nil),
        ] as [([UInt8], Bool?)]
    )
    func frameEndsWithThreeBits(bytes: [UInt8], expected: Bool?) {
        #expect(SampleKeyCheck.endsWithEndElement(bytes) == expected)
    }

    @Test func checksumOfTextWithItsChecksumIsZero() {
        let text = Array("123456789".utf8)
        #expect(SampleKeyCheck.checksum(text) == 0xFEE8)
        #expect(SampleKeyCheck.checksum(text + [0xFE, 0xE8]) == 0)
    }

    // MARK: Movie fragments

    /// An AC-3 frame of 128 bytes.
    ///
    /// All bytes are encrypted with `key` and `vector`.
    private static let sample = bytes(
        "2a9bba31488ca64e97c379172011629c26f9cc7e31eb595fef20a248ff77ba382ff4f9cc39ada10293a93c1b8509a2e4"
            + "c7bf5b67ceddc2410042dcae6c561d890c85bc9851698a15d8381de62ef648fe135f7bf487e5e36b40a495dd4a71eac4"
            + "bead94de2dfc5937d8d30939222a11e65ace8e4e718e147b1e0dbd9c50e95f88"
    )

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// Returns an initialization section with an audio track that is encrypted with Common Encryption.
    private static func initialization(
        vector: [UInt8] = SampleKeyCheckTests.vector,
        pattern: UInt8 = 0,
        scheme: String = "cbcs"
    ) -> [UInt8] {
        let type = box("schm", zeros(4), Array(scheme.utf8), [0, 1, 0, 0])
        let count = UInt8(vector.count)
        let tenc = box("tenc", [1, 0, 0, 0, 0, pattern, 1, 0], zeros(16), [count], vector)
        let protection = box("sinf", box("frma", Array("ac-3".utf8)), type, box("schi", tenc))
        let audio = zeros(6) + [0, 1] + zeros(8) + [0, 2, 0, 16] + zeros(4) + [0xBB, 0x80, 0, 0]
        let table = box("stbl", box("stsd", zeros(4), [0, 0, 0, 1], box("enca", audio, protection)))
        let header = box("mdhd", zeros(12), [0, 0, 3, 232], zeros(8))
        let handler = box("hdlr", zeros(8), Array("soun".utf8), zeros(13))
        let media = box("mdia", header, handler, box("minf", table))
        let track = box("trak", box("tkhd", zeros(12), [0, 0, 0, 1], zeros(68)), media)
        return box("ftyp", Array("iso6".utf8), zeros(4))
            + box("moov", box("mvhd", zeros(12), [0, 0, 3, 232], zeros(84)), track)
    }

    /// Returns a movie fragment with four samples, possibly with a list of their clear parts.
    private static func fragment(_ list: [UInt8] = []) -> [UInt8] {
        func moof(dataOffset: Int) -> [UInt8] {
            let sizes = (0..<4).flatMap { _ -> [UInt8] in [0, 0, 0, UInt8(sample.count)] }
            let offset: [UInt8] = [0, 0, 0, UInt8(dataOffset)]
            let run = box("trun", [0, 0, 2, 1], [0, 0, 0, 4], offset, sizes)
            let track = box("traf", box("tfhd", [0, 2, 0, 0], [0, 0, 0, 1]), run, list)
            return box("moof", box("mfhd", zeros(4), [0, 0, 0, 1]), track)
        }
        return moof(dataOffset: moof(dataOffset: 0).count + 8) + box("mdat", (0..<4).flatMap { _ in sample })
    }

    private static func matches(
        _ key: [UInt8],
        _ initialization: [UInt8],
        _ segment: [UInt8] = SampleKeyCheckTests.fragment(),
        explicitVector: [UInt8]? = nil
    ) -> Bool? {
        SampleKeyCheck.matches(key, explicitVector: explicitVector, segment, initialization: initialization)
    }

    @Test func audioOfMovieFragmentsTellsWhetherTheKeyMatches() {
        #expect(Self.matches(Self.key, Self.initialization()) == true)
        #expect(Self.matches(Self.wrongKey, Self.initialization()) == false)
        // If the media has no vector, that of the playlist is used. Without a vector, the samples cannot be decrypted.
        let none = Self.initialization(vector: [])
        #expect(Self.matches(Self.key, none, explicitVector: Self.vector) == true)
        #expect(Self.matches(Self.wrongKey, none, explicitVector: Self.vector) == false)
        #expect(Self.matches(Self.wrongKey, none) == nil)
    }

    /// The samples are those of the segment, and their format is that of the initialization section.
    @Test func keyOfAPlaylistIsCheckedWithTheInitializationSection() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="data:application/octet-stream;base64,MDEyMzQ1Njc4OWFiY2RlZg==",IV=0x7
            #EXT-X-MAP:URI="i.mp4"
            #EXTINF:4,
            0.m4s
            #EXT-X-ENDLIST

            """
        let playlist = try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress(Self.base + "main.m3u8"))
        )
        let segment = try #require(EncryptedSegment(playlist.segments[0]))
        // The media has a vector, or the playlist does.
        for initialization in [Self.initialization(), Self.initialization(vector: [])] {
            for (key, matches) in [(Self.key, true), (Self.wrongKey, false)] {
                let result = segment.beginsWithMedia(key, { _ in Self.fragment() }, initialization: { initialization })
                #expect(result == matches)
            }
        }
        let unknown = segment.beginsWithMedia(Self.key, { _ in Self.fragment() }, initialization: { nil })
        let unread = segment.beginsWithMedia(Self.key, { _ in nil }, initialization: { Self.initialization() })
        #expect(unknown == nil && unread == nil)
    }

    @Test func partlyEncryptedSamplesOfMovieFragmentsDoNotTell() {
        #expect(Self.matches(Self.wrongKey, Self.initialization(pattern: 0x19)) == nil)
        #expect(Self.matches(Self.wrongKey, Self.initialization(scheme: "cenc")) == nil)
        let list = box("senc", [0, 0, 0, 2], Self.zeros(4))
        #expect(Self.matches(Self.wrongKey, Self.initialization(), Self.fragment(list)) == nil)
        #expect(Self.matches(Self.wrongKey, Self.initialization(), Self.fragment(box("saiz", Self.zeros(9)))) == nil)
        #expect(Self.matches(Self.wrongKey, Array("no movie".utf8)) == nil)
    }

    // MARK: Downloads

    /// The key of the playlist is checked only if the user gives another key.
    @Test(arguments: [false, true]) func givenKeyMustDecryptTheSamples(matches: Bool) async throws {
        let temporary = try TemporaryLibrary()
        defer { withExtendedLifetime(temporary) {} }
        let origin = ScriptedTransport(texts: [
            Self.base + "main.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="key",IV=0x7
            #EXTINF:4,
            0.aac
            #EXTINF:4,
            1.aac
            #EXT-X-ENDLIST

            """
        ])
        for name in ["0.aac", "1.aac"] { origin.setResponses(for: Self.base + name, .bytes(Self.packedAudio)) }
        let digits = (matches ? Self.key : Self.wrongKey).map { String($0, radix: 16) }.joined()
        var selection = DownloadSelection()
        selection.edits = EditPlan([try PlaylistEdit(name: "key", value: digits)])
        let download = AssetDownload(
            ResourceAddress(Self.base + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(
                SchemeTransport(http: origin, file: FileTransport()),
                policy: RecoveryPolicy(retries: 0)
            ),
            configuration: DownloadConfiguration(selection: selection, maximumConcurrentFetches: 1)
        )
        guard !matches else {
            #expect(try await download.run().state == .complete)
            return
        }
        let error = await #expect(throws: DownloadError.self) { try await download.run() }
        let reason = "the decrypted audio is not valid: \(Self.base)0.aac"
        #expect(error?.code == .damaged && error?.message == "the key does not match: \(reason)")
        let asset = try #require(try temporary.library.assets().first)
        #expect(asset.state == .partial && !asset.isPlayableOffline)
    }

    /// Returns the number of events of a complete download that say that its key is not verified.
    private func unverifiedKeyCount(
        _ method: String,
        _ segment: [UInt8],
        uri: String = "key",
        edits: [PlaylistEdit]
    ) async throws -> Int {
        let temporary = try TemporaryLibrary()
        defer { withExtendedLifetime(temporary) {} }
        let origin = ScriptedTransport(texts: [
            Self.base + "main.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=\(method),URI="\(uri)"
            #EXTINF:4,
            0.ts
            #EXT-X-ENDLIST

            """
        ])
        origin.setResponses(for: Self.base + "0.ts", .bytes(segment))
        var selection = DownloadSelection()
        selection.edits = EditPlan(edits)
        let download = AssetDownload(
            ResourceAddress(Self.base + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(
                SchemeTransport(http: origin, file: FileTransport()),
                policy: RecoveryPolicy(retries: 0)
            ),
            configuration: DownloadConfiguration(selection: selection)
        )
        let count = Mutex(0)
        let asset = try await download.run { event in
            if case .keyNotVerified = event { count.withLock { $0 += 1 } }
        }
        #expect(asset.state == .complete)
        return count.withLock { $0 }
    }

    /// Only audio tells whether a key that the user gives is right.
    @Test func givenKeyOfOtherSamplesIsNotVerified() async throws {
        let digits = Self.key.map { String($0, radix: 16) }.joined()
        let edits = [try PlaylistEdit(name: "key", value: digits + ",iv=00000000000000000000000000000007")]
        let video = Self.transportStream([UInt8](repeating: 0x21, count: 400), type: 0xDB)
        #expect(try await unverifiedKeyCount("SAMPLE-AES", video, edits: edits) == 1)
        #expect(try await unverifiedKeyCount("SAMPLE-AES-CTR", video, edits: edits) == 1)
        let audio = Self.transportStream(Self.packedAudio, type: 0xCF)
        #expect(try await unverifiedKeyCount("SAMPLE-AES", audio, edits: edits) == 0)
        // The key of a playlist is that of the origin.
        let uri = "data:application/octet-stream;base64,MDEyMzQ1Njc4OWFiY2RlZg=="
        #expect(try await unverifiedKeyCount("SAMPLE-AES", video, uri: uri, edits: []) == 0)
    }
}
