import MediaTiming
import SegmentFormat
import Testing

@Suite struct MovieTests {
    static func movie(_ bytes: [UInt8] = Movies.initialization) throws -> Movie {
        try Movie(reading: bytes, at: Movies.fileType.count)
    }

    @Test func tracksOfInitializationSectionAreParsed() throws {
        let movie = try Self.movie()
        #expect(movie.isFragmented)
        #expect(movie.duration == nil)
        #expect(movie.timescale == 1_000)
        #expect(
            movie.tracks.map(\.mediaTrack) == [
                MediaTrack(id: 1, mediaType: .video, codec: "avc1.64001f", width: 640, height: 360),
                MediaTrack(
                    id: 2,
                    mediaType: .audio,
                    codec: "mp4a.40.2",
                    language: "deu",
                    channelCount: 2,
                    sampleRate: 48_000
                ),
            ]
        )
        #expect(movie.track(1)?.fragmentDefaults?.sampleDuration == 512)
        #expect(movie.track(2)?.timescale == 48_000)
        #expect(movie.track(3) == nil)
    }

    @Test func headersOfVersionOneAreParsed() throws {
        let header = fullBox("mvhd", 1, 0, zeros(16), u32(600), u64(1 << 34), zeros(80))
        let bytes = box("moov", header, box("mvex", fullBox("mehd", 1, 0, u64(1_200))))
        let movie = try Movie(reading: bytes)
        #expect(movie.duration == MediaTime(value: 1 << 34, timescale: 600))
        #expect(movie.fragmentedDuration == MediaTime(seconds: 2))
    }

    @Test func unknownDurationIsNil() throws {
        let bytes = box("moov", Movies.movieHeader(duration: 0xFFFF_FFFF))
        #expect(try Movie(reading: bytes).duration == nil)
    }

    @Test func editListIsParsed() throws {
        let track = Movies.track(
            1,
            handler: "soun",
            timescale: 48_000,
            entry: Movies.audioEntry("Opus"),
            edits: Movies.editList([(500, -1), (9_000, 312), (1, 1)])
        )
        let movie = try Movie(reading: box("moov", Movies.movieHeader(), track))
        let edit = try #require(movie.tracks.first?.firstEdit)
        #expect(edit.emptyDuration == MediaTime(value: 1, timescale: 2))
        #expect(edit.mediaTime == MediaTime(value: 312, timescale: 48_000))
        #expect(edit.duration == MediaTime(seconds: 9))
        #expect(edit.hasFurtherEdits)
        #expect(edit.offset == MediaTime(value: 23_688, timescale: 48_000))
    }

    @Test func extendedLanguageTagOverridesLanguageCode() throws {
        let media = box(
            "mdia",
            Movies.mediaHeader(timescale: 1_000, duration: 0, language: "zho"),
            fullBox("elng", 0, 0, ascii("zh-Hant") + [0]),
            Movies.handler("subt")
        )
        let movie = try Movie(reading: box("moov", Movies.movieHeader(), box("trak", Movies.trackHeader(4), media)))
        #expect(movie.tracks.first?.language == "zh-Hant")
        #expect(movie.tracks.first?.mediaType == .subtitles)
    }

    @Test func protectionSchemeAndKeyIDAreParsed() throws {
        let key = (1...16).map { UInt8($0) }
        let protection = box(
            "sinf",
            box("frma", ascii("avc1")),
            fullBox("schm", 0, 0, ascii("cbcs"), u32(0x1_0000)),
            box("schi", fullBox("tenc", 1, 0, [0, 0x19, 1, 0] + key + [16] + [UInt8](repeating: 9, count: 16)))
        )
        let entry = Movies.visualEntry("encv", Movies.avcConfiguration, protection)
        let track = Movies.track(1, handler: "vide", timescale: 1, entry: entry)
        let movie = try Movie(reading: box("moov", Movies.movieHeader(), track))
        let found = try #require(movie.tracks.first?.sampleEntries.first)
        #expect(found.codingName == "encv")
        #expect(found.format == "avc1")
        #expect(found.codec == "avc1.64001f")
        let protected = try #require(found.protection)
        #expect(protected.scheme == "cbcs")
        #expect(protected.defaultKeyIdentifier == key)
        #expect(protected.initializationVectorSize == 0)
        #expect(protected.constantInitializationVector == [UInt8](repeating: 9, count: 16))
        #expect(protected.pattern?.encryptedBlockCount == 1)
        #expect(protected.pattern?.skippedBlockCount == 9)
        #expect(movie.tracks.first?.mediaTrack.encryptionScheme == "cbcs")
    }

    @Test func missingBoxesAreReported() {
        #expect(throws: MediaFormatError.missing("moov")) { try Movie(reading: zeros(0)) }
        #expect(throws: MediaFormatError.missing("moov")) { try Movie(reading: Movies.fileType) }
        #expect(throws: MediaFormatError.missing("mvhd")) { try Movie(reading: box("moov")) }
        #expect(throws: MediaFormatError.malformed("timescale of mvhd")) {
            try Movie(reading: box("moov", Movies.movieHeader(timescale: 0)))
        }
        #expect(throws: MediaFormatError.truncated("moov")) {
            try Movie(reading: Array(Movies.initialization.dropLast(1)), at: Movies.fileType.count)
        }
    }

    @Test func tooManyTracksAreRejected() {
        let tracks = [[UInt8]](repeating: Movies.videoTrack, count: Movie.maximumTrackCount + 1).flatMap { $0 }
        #expect(throws: MediaFormatError.tooLarge("moov")) {
            try Movie(reading: box("moov", Movies.movieHeader(), tracks))
        }
    }

    static let headers: [([UInt8], String, Int, Int64?)] = [
        (u32(16) + ascii("free"), "free", 8, 16),
        (u32(1) + ascii("mdat") + u64(1 << 40), "mdat", 16, 1 << 40),
        (u32(0) + ascii("mdat"), "mdat", 8, nil),
        (u32(24) + ascii("uuid") + zeros(16), "uuid", 24, 24),
    ]

    @Test(arguments: headers)
    func boxHeadersAreParsed(_ bytes: [UInt8], _ type: String, _ headerLength: Int, _ length: Int64?) throws {
        let found = try #require(BoxHeader(reading: bytes))
        #expect(found.type.description == type)
        #expect(found.headerLength == headerLength)
        #expect(found.length == length)
    }

    static let impossibleHeaders: [[UInt8]] = [
        u32(7) + ascii("free"), u32(1) + ascii("mdat") + u64(15), u32(1) + ascii("mdat"), u32(8), [],
    ]

    @Test(arguments: impossibleHeaders)
    func impossibleBoxHeaderIsNil(_ bytes: [UInt8]) {
        #expect(BoxHeader(reading: bytes) == nil)
    }
}
