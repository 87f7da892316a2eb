/// Synthetic media files with a title, an artist, an album and an artwork.
enum TaggedFiles {
    /// The beginnings of images, which determine their formats.
    static let jpeg = [0xFF, 0xD8, 0xFF, 0xE0] as [UInt8] + ascii("image")
    static let png = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] as [UInt8] + ascii("image")

    /// Returns an item of the item list of a movie, whose names can begin with the copyright sign.
    static func item(_ name: String, type: Int, _ value: [UInt8]) -> [UInt8] {
        let data = box("data", u32(type), u32(0), value)
        let code = name.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        return u32(data.count + 8) + code + data
    }

    /// Returns an MP4 file whose movie box has only metadata.
    static func movie(_ items: [UInt8]...) -> [UInt8] {
        let metadata = fullBox("meta", 0, 0, Movies.handler("mdir"), box("ilst", items.flatMap { $0 }))
        return Movies.fileType + box("moov", Movies.movieHeader(), box("udta", metadata))
    }

    /// An MP4 file with all properties.
    static let taggedMovie: [UInt8] = movie(
        item("©nam", type: 1, ascii("Song")),
        item("©ART", type: 1, ascii("Band")),
        item("©alb", type: 1, ascii("Album")),
        item("covr", type: 13, jpeg)
    )

    /// Returns an ID3 frame with an image.
    static func imageFrame(pictureType: Int, _ image: [UInt8]) -> [UInt8] {
        Audio.frame("APIC", [0] + ascii("image/jpg\0") + u8(pictureType) + [0] + image)
    }

    /// Returns an MP3 file with a tag.
    static func mp3(_ frames: [UInt8]) -> [UInt8] { Audio.id3(frames) + Audio.repeated(Audio.mp3, 20) }

    /// An MP3 file with all properties.
    static let taggedMP3: [UInt8] = mp3(
        Audio.frame("TIT2", [3] + ascii("Song")) + Audio.frame("TPE1", [3] + ascii("Band"))
            + Audio.frame("TALB", [3] + ascii("Album")) + imageFrame(pictureType: 3, jpeg)
    )

    static func little(_ value: Int) -> [UInt8] { u32(value).reversed() }

    /// Returns Vorbis comments.
    static func comments(_ texts: [String]) -> [UInt8] {
        let list = texts.flatMap { little($0.utf8.count) + ascii($0) }
        return little(7) + ascii("encoder") + little(texts.count) + list
    }

    static let commentTexts = ["title=Song", "ARTIST=Band", "Album=Album"]

    /// Returns a FLAC picture block without its header.
    static func picture(_ image: [UInt8]) -> [UInt8] {
        u32(3) + u32(10) + ascii("image/jpeg") + u32(0) + zeros(16) + u32(image.count) + image
    }

    /// Returns a FLAC file with comments and a picture.
    static func flac(_ image: [UInt8]) -> [UInt8] {
        let commentBlock = comments(commentTexts)
        let pictureBlock = picture(image)
        return Array(Audio.flac(samples: 441_000, picture: 0, frames: 0).prefix(42)) + [4] + u24(commentBlock.count)
            + commentBlock + [0x86] + u24(pictureBlock.count) + pictureBlock + zeros(200)
    }

    /// Returns the pages of an Ogg packet.
    static func pages(_ packet: [UInt8]) -> [UInt8] {
        let lacing = [UInt8](repeating: 255, count: packet.count / 255) + u8(packet.count % 255)
        var bytes: [UInt8] = []
        var offset = 0
        for start in stride(from: 0, to: lacing.count, by: 255) {
            let table = Array(lacing[start..<min(start + 255, lacing.count)])
            let size = table.reduce(0) { $0 + Int($1) }
            bytes += ascii("OggS") + [0, 0] + zeros(8) + u32(7) + zeros(8) + u8(table.count) + table
            bytes += packet[offset..<offset + size]
            offset += size
        }
        return bytes
    }

    /// Returns an Ogg file of Opus with comments.
    static func opus(_ texts: [String]) -> [UInt8] {
        let file = Containers.opus(seconds: 2)
        // The first page has the header of the codec.
        return Array(file.prefix(47)) + pages(ascii("OpusTags") + comments(texts)) + file.dropFirst(47)
    }

    /// Returns a Matroska tag.
    ///
    /// - Parameters:
    ///   - texts: The names and the values.
    ///   - track: The track that the tag describes; 0 for all tracks.
    ///   - level: The target type value; `nil` for a tag without one.
    /// - Returns: The bytes of the element.
    static func tag(_ texts: [(name: String, value: String)], track: Int = 0, level: Int? = nil) -> [UInt8] {
        let items = texts.flatMap { text in
            Containers.element(
                0x67C8,
                Containers.element(0x45A3, ascii(text.name)),
                Containers.element(0x4487, ascii(text.value))
            )
        }
        let type = level.map { Containers.element(0x68CA, u8($0)) } ?? []
        let targets = Containers.element(0x63C0, type, Containers.element(0x63C5, u8(track)))
        return Containers.element(0x7373, items, targets)
    }

    /// Returns a Matroska attachment.
    static func attachment(_ name: String, type: String, _ data: [UInt8]) -> [UInt8] {
        Containers.element(
            0x61A7,
            Containers.element(0x466E, ascii(name)),
            Containers.element(0x4660, ascii(type)),
            Containers.element(0x465C, data)
        )
    }

    /// A WebM file with tags and attachments before its only cluster.
    static let matroska: [UInt8] = {
        let information = Containers.element(0x1549_A966, Containers.element(0x7BA9, ascii("Song")))
        let tags = Containers.element(
            0x1254_C367,
            tag([("TITLE", "Other"), ("ARTIST", "Translator")], track: 1),
            tag([("Artist", "Band"), ("ALBUM", "Album")])
        )
        let attachments = Containers.element(
            0x1941_A469,
            attachment("font.ttf", type: "font/ttf", jpeg),
            attachment("small_cover.png", type: "image/png", png),
            attachment("cover.jpg", type: "image/jpeg", jpeg)
        )
        return matroskaFile(information, tags, attachments)
    }()

    /// Returns a WebM file with elements before its only cluster.
    static func matroskaFile(_ elements: [UInt8]...) -> [UInt8] {
        let cluster = Containers.element(0x1F43_B675, zeros(50))
        return Containers.element(0x1A45_DFA3, Containers.element(0x4282, ascii("webm")))
            + Containers.element(0x1853_8067, elements.flatMap { $0 }, cluster)
    }

    /// A WAV file with a list of texts before its samples.
    static let wave: [UInt8] = waveFile(("INAM", ascii("Song\0")), ("IART", ascii("Band")), ("IPRD", ascii("Album")))

    /// Returns a WAV file with a list of texts before its samples.
    static func waveFile(_ texts: (name: String, text: [UInt8])...) -> [UInt8] {
        let items = texts.flatMap { name, text in
            ascii(name) + little(text.count) + text + zeros(text.count & 1)
        }
        let list = ascii("LIST") + little(items.count + 4) + ascii("INFO") + items
        let file = Array(Audio.wave(seconds: 1).prefix(400))
        return Array(file.prefix(36)) + list + file.dropFirst(36)
    }
}
