package import MediaTiming

extension Movie {
    /// A track box, `trak` (ISO/IEC 14496-12 §8.3).
    package struct Track: Sendable, Hashable {
        /// The track ID, by which fragments refer to the track.
        package let id: UInt32
        /// The media type, derived from the handler type.
        package let mediaType: MediaTrack.MediaType
        /// The handler type, such as `vide`, `soun`, `text`, `subt` or `meta`.
        package let handler: FourCharacterCode
        /// The timescale of the track's media, in units per second.
        package let timescale: UInt32
        /// The duration in the media header (`mdhd`); `nil` if it is zero or unknown.
        package let duration: MediaTime?
        /// The name in the user data, otherwise that of the handler; `nil` if it is missing or that of a kind of track.
        package let name: String?
        /// The orientation in which the matrix of the track header shows the video.
        package let orientation: VideoOrientation
        /// The language tag (`elng`) or else the ISO 639-2 code in `mdhd`; `nil` if it is missing or `und`.
        package let language: String?
        /// The sample entries (`stsd`), usually one; at most ``SampleEntry/maximumCount``.
        package let sampleEntries: [SampleEntry]
        /// The start of the edit list, which maps the media to the movie's timeline; `nil` without an edit list.
        package let firstEdit: Edit?
        /// The number of edits that the edit list declares.
        let editCount: Int
        /// The default values for the samples of the track's fragments; `nil` without `trex`.
        package let fragmentDefaults: FragmentDefaults?
        /// The sample table; `nil` if it is missing or incomplete.
        package let sampleTable: SampleTable?

        /// The properties of the track, independent of the container.
        package var mediaTrack: MediaTrack {
            let entry = sampleEntries.first
            return MediaTrack(
                id: id,
                mediaType: mediaType,
                codec: entry?.codec,
                name: name,
                language: language,
                width: entry?.width,
                height: entry?.height,
                orientation: orientation,
                channelCount: entry?.channelCount,
                sampleRate: entry?.sampleRate,
                encryptionScheme: entry?.protection.map { $0.scheme?.description ?? "unknown" }
            )
        }
    }

    /// The start of an edit list, `elst`, which maps the media of a track to the movie's timeline (ISO/IEC 14496-12
    /// §8.6.6).
    package struct Edit: Sendable, Hashable {
        /// The total duration of the empty edits at the start.
        package let emptyDuration: MediaTime
        /// The media time at which presentation starts after the empty edits.
        package let mediaTime: MediaTime
        /// The duration of the first edit that is not empty; `nil` if it extends to the end, as in fragmented files.
        package let duration: MediaTime?
        /// A Boolean value that indicates whether the edit list has further edits, which are not evaluated.
        package let hasFurtherEdits: Bool

        /// The offset to add to a media time of the track to get the time on the movie's timeline.
        package var offset: MediaTime { emptyDuration - mediaTime }
    }
}

extension Movie.Track {
    init?(
        _ box: Box,
        movieTimescale: UInt32,
        defaults: [UInt32: Movie.FragmentDefaults],
        _ bytes: Span<UInt8>
    ) {
        guard let header = box.firstChild(.tkhd, in: bytes), let media = box.firstChild(.mdia, in: bytes),
            let mediaHeader = media.firstChild(.mdhd, in: bytes)
        else { return nil }
        var (version, _, cursor) = header.fullBoxFields(in: bytes)
        cursor.skip(version == 1 ? 16 : 8)
        id = cursor.readUInt32(bytes)
        let (timescale, duration) = Movie.timing(mediaHeader, bytes)
        guard !cursor.isPastEnd, timescale > 0 else { return nil }
        self.timescale = timescale
        self.duration = duration.map { .units($0, per: timescale) }
        language = Self.language(media, mediaHeader, bytes)
        name = Self.name(box, media, bytes)
        // Up to the matrix: the duration, the layer, the alternate group and the volume.
        cursor.skip(version == 1 ? 28 : 24)
        let matrix = (0..<5).map { _ in cursor.readInt32(bytes) }
        orientation = VideoOrientation(a: matrix[0], b: matrix[1], c: matrix[3], d: matrix[4])

        if let box = media.firstChild(.hdlr, in: bytes) {
            var (_, _, cursor) = box.fullBoxFields(in: bytes)
            cursor.skip(4)
            handler = cursor.readFourCharacterCode(bytes)
        } else {
            handler = FourCharacterCode(0)
        }
        let kind = Self.kind(handler)
        self.mediaType = kind

        let table = media.firstChild(.minf, in: bytes)?.firstChild(.stbl, in: bytes)
        sampleEntries =
            table?.firstChild(.stsd, in: bytes).map { SampleEntry.entries($0, mediaType: kind, bytes) } ?? []
        sampleTable = table.flatMap { SampleTable($0, timescale: timescale, bytes) }
        let edits = box.firstChild(.edts, in: bytes)?.firstChild(.elst, in: bytes)
        editCount = edits.map { Movie.Edit.count($0, bytes) } ?? 0
        firstEdit =
            edits
            .flatMap { Movie.Edit($0, movieTimescale: movieTimescale, mediaTimescale: timescale, bytes) }
        fragmentDefaults = defaults[id]
    }

    private static func kind(_ handler: FourCharacterCode) -> MediaTrack.MediaType {
        switch handler {
        case "vide", "auxv", "pict": .video
        case "soun": .audio
        // The last one is that of subtitles that consist of images, such as those of DVDs.
        case "text", "subt", "sbtl", "clcp", "subp": .subtitles
        case "meta", "ID32": .metadata
        default: .other
        }
    }

    /// The parts of names that writers give to the handlers of all tracks of a media type.
    private static let genericNames = ["handler", "core media", "iso media", "gpac", "l-smash", "mainconcept"]
    /// The maximum length of a name, in bytes.
    private static let maximumNameLength = 256

    /// Returns the name of a track.
    ///
    /// QuickTime and FFmpeg store it in the user data, other writers as the name of the handler.
    private static func name(_ track: Box, _ media: Box, _ bytes: Span<UInt8>) -> String? {
        if let box = track.firstChild(.udta, in: bytes)?.firstChild("name", in: bytes),
            box.payload.count <= maximumNameLength
        {
            var cursor = ByteCursor(box.payload, in: bytes)
            let name = cursor.readTerminatedString(bytes)
            if isName(name) { return name }
        }
        guard let box = media.firstChild(.hdlr, in: bytes), box.payload.count <= maximumNameLength else { return nil }
        var (_, _, cursor) = box.fullBoxFields(in: bytes)
        cursor.skip(20)
        let name = cursor.readTerminatedString(bytes)
        let lowercase = name.lowercased()
        return isName(name) && !genericNames.contains { lowercase.contains($0) } ? name : nil
    }

    /// Returns a Boolean value that indicates whether a text can be shown; QuickTime begins names with their length.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && !text.contains("\u{FFFD}")
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Returns the language; `mdhd` stores three letters of five bits each, relative to 0x60 (ISO/IEC 14496-12
    /// §8.4.2.3).
    private static func language(_ media: Box, _ header: Box, _ bytes: Span<UInt8>) -> String? {
        if let extended = media.firstChild(.elng, in: bytes) {
            var (_, _, cursor) = extended.fullBoxFields(in: bytes)
            let tag = cursor.readTerminatedString(bytes)
            if !tag.isEmpty, tag.utf8.count <= 100 { return tag }
        }
        var (version, _, cursor) = header.fullBoxFields(in: bytes)
        cursor.skip(version == 1 ? 28 : 16)
        let packed = cursor.readUInt16(bytes)
        let letters = [10, 5, 0].map { UInt8(truncatingIfNeeded: packed >> $0 & 0x1F) +| 0x60 }
        guard !cursor.isPastEnd, letters.allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
        let language = String(decoding: letters, as: UTF8.self)
        return language == "und" ? nil : language
    }
}

extension Movie.Edit {
    /// Returns the number of edits that the edit list declares, limited to the number that fits in the box.
    static func count(_ box: Box, _ bytes: Span<UInt8>) -> Int {
        var (version, _, cursor) = box.fullBoxFields(in: bytes)
        let count = Int(cursor.readUInt32(bytes))
        // Bounded: the divisor is at least 12.
        return min(count, cursor.remaining / (version == 1 ? 20 : 12))
    }

    init?(_ box: Box, movieTimescale: UInt32, mediaTimescale: UInt32, _ bytes: Span<UInt8>) {
        var (version, _, cursor) = box.fullBoxFields(in: bytes)
        let width = version == 1 ? 8 : 4
        let count = Int(cursor.readUInt32(bytes))
        var empty: UInt64 = 0
        for index in 0..<count {
            guard cursor.remaining >= 2 *| width + 4 else { return nil }
            let duration = cursor.readUnsigned(width, bytes)
            let time =
                width == 8
                ? Int64(bitPattern: cursor.readUInt64(bytes)) : Int64(cursor.readInt32(bytes))
            cursor.skip(4)
            guard time >= 0 else {
                empty = empty.addingSaturated(duration)
                continue
            }
            emptyDuration = .units(empty, per: movieTimescale)
            mediaTime = .units(time, per: mediaTimescale)
            self.duration = duration == 0 ? nil : .units(duration, per: movieTimescale)
            hasFurtherEdits = index + 1 < count
            return
        }
        return nil
    }
}
