import Foundation
import MediaTiming
import SegmentFormat
import Testing

@Suite struct MediaFileMetadataTests {
    /// Returns the metadata of a file that is loaded in ranges.
    private static func metadata(_ file: [UInt8], head: Int = 2_000) throws -> MediaFileMetadata {
        try MediaFileIndexerTests.index(file, head: head).timeline.metadata
    }

    private static func texts(_ metadata: MediaFileMetadata) -> [String?] {
        [metadata.title, metadata.artist, metadata.albumTitle]
    }

    @Test(arguments: [
        TaggedFiles.taggedMovie, TaggedFiles.taggedMP3, TaggedFiles.flac(TaggedFiles.jpeg), TaggedFiles.matroska,
        TaggedFiles.opus(
            TaggedFiles.commentTexts
                + ["METADATA_BLOCK_PICTURE=" + Data(TaggedFiles.picture(TaggedFiles.jpeg)).base64EncodedString()]
        ),
    ])
    func titleArtistAlbumAndArtworkAreRead(_ file: [UInt8]) throws {
        let metadata = try Self.metadata(file)
        #expect(Self.texts(metadata) == ["Song", "Band", "Album"])
        #expect(metadata.artwork?.bytes == TaggedFiles.jpeg && metadata.artwork?.contentType == "image/jpeg")
        #expect(!metadata.isEmpty)
    }

    @Test func waveFileHasTexts() throws {
        let metadata = try Self.metadata(TaggedFiles.wave)
        #expect(Self.texts(metadata) == ["Song", "Band", "Album"])
        #expect(metadata.artwork == nil)
    }

    @Test func filesWithoutMetadataHaveNone() throws {
        for file in [
            Movies.initialization, Audio.repeated(Audio.mp3, 20), Containers.opus(seconds: 1), Audio.wave(seconds: 1),
            Containers.matroska(seconds: 4, step: 2).file, Audio.flac(samples: 100, picture: 20, frames: 50),
        ] {
            #expect(try Self.metadata(file).isEmpty)
        }
    }

    /// The cut can be within any structure.
    @Test(arguments: [
        TaggedFiles.taggedMovie, TaggedFiles.taggedMP3, TaggedFiles.flac(TaggedFiles.jpeg), TaggedFiles.matroska,
        TaggedFiles.wave, TaggedFiles.opus(TaggedFiles.commentTexts),
    ])
    func truncatedFilesHaveNoOtherMetadata(_ file: [UInt8]) throws {
        for count in stride(from: 64, to: min(file.count, 900), by: 7) {
            let metadata = try Self.metadata(Array(file.prefix(count)), head: 64)
            #expect(metadata.title.map { "Song".hasPrefix($0) } ?? true)
            let images = [TaggedFiles.jpeg, TaggedFiles.png]
            #expect(metadata.artwork.map { found in images.contains { $0.starts(with: found.bytes) } } ?? true)
        }
    }

    @Test func largeTagIsLoadedTogetherWithTheFirstFrames() throws {
        let image = TaggedFiles.jpeg + zeros(100_000)
        let file = TaggedFiles.mp3(
            Audio.frame("TIT2", [3] + ascii("Song")) + TaggedFiles.imageFrame(pictureType: 3, image)
        )
        let (timeline, requests) = try MediaFileIndexerTests.index(file)
        #expect(requests.count == 1)
        #expect(timeline.metadata.title == "Song" && timeline.metadata.artwork?.bytes == image)
        #expect(timeline.container == .mpegAudio && timeline.duration != nil)
    }

    @Test func frontCoverReplacesOtherImages() throws {
        let back = TaggedFiles.imageFrame(pictureType: 4, TaggedFiles.png)
        let front = TaggedFiles.imageFrame(pictureType: 3, TaggedFiles.jpeg)
        #expect(try Self.metadata(TaggedFiles.mp3(back + front)).artwork?.contentType == "image/jpeg")
        #expect(try Self.metadata(TaggedFiles.mp3(front + back)).artwork?.contentType == "image/jpeg")
        #expect(try Self.metadata(TaggedFiles.mp3(back)).artwork?.contentType == "image/png")
    }

    @Test func oldTagHasItsImage() throws {
        func frame(_ id: String, _ content: [UInt8]) -> [UInt8] { ascii(id) + u24(content.count) + content }
        let frames =
            frame("TT2", [0] + ascii("Song")) + frame("TP1", [0] + ascii("Band")) + frame("TAL", [0] + ascii("Album"))
            + frame("PIC", [0] + ascii("PNG") + [3, 0] + TaggedFiles.png)
        let metadata = try Self.metadata(Audio.id3(version: 2, frames) + Audio.repeated(Audio.mp3, 20))
        #expect(Self.texts(metadata) == ["Song", "Band", "Album"])
        #expect(metadata.artwork?.contentType == "image/png")
    }

    @Test func itemsInOtherEncodingsAndOfQuickTimeAreRead() throws {
        let wide = TaggedFiles.item("©nam", type: 2, ascii("\0S\0o"))
        #expect(try Self.metadata(TaggedFiles.movie(wide)).title == "So")
        let number = TaggedFiles.item("©nam", type: 21, [7])
        #expect(try Self.metadata(TaggedFiles.movie(number)).isEmpty)
        let text = u32(16) + [0xA9] + ascii("nam") + u16(4) + u16(0x55C4) + ascii("Song")
        let file = Movies.fileType + box("moov", Movies.movieHeader(), box("udta", text))
        #expect(try Self.metadata(file).title == "Song")
        let plain = box("meta", Movies.handler("mdir"), box("ilst", TaggedFiles.item("©nam", type: 1, ascii("Song"))))
        #expect(
            try Self.metadata(Movies.fileType + box("moov", Movies.movieHeader(), box("udta", plain))).title == "Song"
        )
    }

    @Test func textsAreOnOneLineAndLimited() throws {
        let long = String(repeating: "é", count: 2_000)
        let file = TaggedFiles.movie(
            TaggedFiles.item("©nam", type: 1, ascii(" a\nb\u{7} ")),
            TaggedFiles.item("©ART", type: 1, ascii(long)),
            TaggedFiles.item("©alb", type: 1, ascii(" \t "))
        )
        let metadata = try Self.metadata(file, head: file.count)
        #expect(metadata.title == "a b")
        #expect(metadata.artist == String(long.prefix(512)))
        #expect(metadata.albumTitle == nil)
    }

    @Test func imagesInOtherFormatsAndLargeOnesAreOmitted() {
        #expect(MediaFileMetadata.Artwork(ascii("BM")) == nil)
        #expect(MediaFileMetadata.Artwork([]) == nil)
        #expect(MediaFileMetadata.Artwork(ascii("GIF89a"))?.contentType == "image/gif")
        #expect(MediaFileMetadata.Artwork(ascii("RIFF....WEBP"))?.contentType == "image/webp")
        let limit = MediaFileMetadata.maximumArtworkSize
        let image = TaggedFiles.jpeg + zeros(limit - TaggedFiles.jpeg.count)
        #expect(MediaFileMetadata.Artwork(image)?.bytes.count == limit)
        #expect(MediaFileMetadata.Artwork(image + [0]) == nil)
    }

    /// An image in comments extends over several pages.
    @Test func commentsOverSeveralPagesAreLoaded() throws {
        let image = TaggedFiles.jpeg + zeros(200_000)
        let picture = Data(TaggedFiles.picture(image)).base64EncodedString()
        let file = TaggedFiles.opus(["METADATA_BLOCK_PICTURE=\(picture)", "TITLE=Song", "language=en"])
        let (timeline, _) = try MediaFileIndexerTests.index(file)
        #expect(timeline.metadata.artwork?.bytes == image)
        #expect(timeline.metadata.title == "Song")
        #expect(timeline.duration == MediaTime(seconds: 2))
        #expect(timeline.tracks.first?.codec == "Opus")
        #expect(timeline.tracks.first?.language == "en")
    }

    /// More bytes would not complete the packet.
    @Test func damagedCommentsAreNotLoadedToTheirEnd() throws {
        let picture = Data(TaggedFiles.picture(TaggedFiles.jpeg + zeros(400_000))).base64EncodedString()
        var file = TaggedFiles.opus(["TITLE=Song", "METADATA_BLOCK_PICTURE=\(picture)"])
        // The second page of the comments follows that of the codec, and one of 255 segments of 255 bytes.
        let page = 47 + 27 + 255 + 255 * 255
        try #require(Array(file[page..<page + 4]) == ascii("OggS"))
        file[page] = 0
        let (timeline, requests) = try MediaFileIndexerTests.index(file)
        #expect(requests.filter { $0.start == 0 }.map(\.length) == [65_536])
        #expect(timeline.metadata.title == "Song" && timeline.metadata.artwork == nil)
        #expect(timeline.duration == MediaTime(seconds: 2))
    }

    // MARK: Matroska

    private static let songTags = Containers.element(0x1254_C367, TaggedFiles.tag([("TITLE", "Song")]))

    @Test func fontsAreNotLoaded() throws {
        let font = TaggedFiles.attachment("font.ttf", type: "font/ttf", zeros(1_000_000))
        let image = TaggedFiles.attachment("cover.jpg", type: "image/jpeg", TaggedFiles.jpeg)
        let attachments = Containers.element(0x1941_A469, font, image, font)
        let file = TaggedFiles.matroskaFile(attachments, Self.songTags)
        let (timeline, requests) = try MediaFileIndexerTests.index(file)
        #expect(timeline.metadata.artwork?.bytes == TaggedFiles.jpeg && timeline.metadata.title == "Song")
        #expect(requests.reduce(0) { $0 + $1.length } < 50_000)
    }

    @Test func onlyTheFirstAttachmentsAreRead() throws {
        let font = TaggedFiles.attachment("font.ttf", type: "font/ttf", zeros(3_000))
        let image = TaggedFiles.attachment("back.jpg", type: "image/jpeg", TaggedFiles.jpeg)
        for (count, isRead) in [(15, true), (16, false), (100, false)] {
            let fonts = (0..<count).flatMap { _ in font }
            let attachments = Containers.element(0x1941_A469, fonts, image)
            let metadata = try Self.metadata(TaggedFiles.matroskaFile(attachments, Self.songTags))
            #expect((metadata.artwork != nil) == isRead && metadata.title == "Song")
        }
    }

    @Test func elementsAfterDamagedAttachmentsAreRead() throws {
        let image = TaggedFiles.attachment("cover.jpg", type: "image/jpeg", TaggedFiles.jpeg)
        for content in [zeros(50), Array(image.dropLast(3)), zeros(1), [0x61, 0xA7]] as [[UInt8]] {
            let attachments = Containers.element(0x1941_A469, content)
            #expect(try Self.metadata(TaggedFiles.matroskaFile(attachments, Self.songTags)).title == "Song")
        }
    }

    /// Targets of type 30 are songs, those of type 50 albums or movies, and those of type 70 series.
    @Test func titlesOfSongsAndAlbumsAreDistinguished() throws {
        func texts(_ tags: [UInt8]...) throws -> [String?] {
            let element = Containers.element(0x1254_C367, tags.flatMap { $0 })
            return try Self.texts(Self.metadata(TaggedFiles.matroskaFile(element)))
        }
        let album = TaggedFiles.tag([("TITLE", "Album"), ("ARTIST", "Various")], level: 50)
        let song = TaggedFiles.tag([("TITLE", "Song"), ("ARTIST", "Band")], level: 30)
        let series = TaggedFiles.tag([("TITLE", "Series")], level: 70)
        #expect(try texts(album, song) == ["Song", "Band", "Album"])
        #expect(try texts(album, TaggedFiles.tag([("TITLE", "Song")])) == ["Song", "Various", "Album"])
        #expect(try texts(series, album) == ["Album", "Various", nil])
        #expect(try texts(series) == [nil, nil, nil])
    }

    // MARK: Encodings

    @Test func textsOfWaveFilesCanBeInTheEncodingOfWindows() throws {
        let windows: [UInt8] = [0x43, 0x61, 0x66, 0xE9, 0x92, 0x73]
        let long = String(repeating: "é", count: 2_000)
        let file = TaggedFiles.waveFile(("INAM", windows), ("IART", ascii("Café")), ("IPRD", [0x61] + ascii(long)))
        let metadata = try Self.metadata(file, head: file.count)
        #expect(metadata.title == "Café’s" && metadata.artist == "Café")
        #expect(metadata.albumTitle == "a" + String(long.prefix(511)))
    }

    /// The language 0 is English in the encoding of Macintosh, in which the byte 0x8E is é.
    @Test func otherCharactersOfMacintoshTextsAreLeftOut() throws {
        func title(_ text: [UInt8]) throws -> String? {
            let item = u32(12 + text.count) + [0xA9] + ascii("nam") + u16(text.count) + u16(0) + text
            return try Self.metadata(Movies.fileType + box("moov", Movies.movieHeader(), box("udta", item))).title
        }
        #expect(try title([0x43, 0x61, 0x66, 0x8E]) == "Caf")
        #expect(try title(ascii("Café")) == "Café")
    }

    @Test func pictureAtAURLIsNotRead() throws {
        let picture = u32(3) + u32(3) + ascii("-->") + u32(0) + zeros(16) + u32(12) + ascii("http://a/b.c")
        let file =
            Array(Audio.flac(samples: 441_000, picture: 0, frames: 0).prefix(42)) + [0x86] + u24(picture.count)
            + picture + zeros(200)
        #expect(try Self.metadata(file).isEmpty)
    }
}
