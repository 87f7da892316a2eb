#if Playback
import AssetStorage
import Foundation
import HLSPlaylist
import MediaDecoding
import MediaTiming
import MediaTransport
import ResourceAddressing
import SegmentFormat
import StreamingEngine

/// The media playlists of a downloaded asset that are exported.
struct ExportSources {
    /// The best stored variant; `nil` if only renditions are stored.
    private(set) var variant: ExportSource?
    /// The audio renditions that the variant does not contain.
    private(set) var audio: [ExportSource] = []
    /// The subtitles.
    private(set) var subtitles: [ExportSource] = []
    /// The subtitle tracks of a media file whose format cannot be converted.
    private(set) var omittedTracks: [MediaTrack] = []
    /// The metadata of a media file; empty for a stream.
    private(set) var metadata = MediaFileMetadata()

    private let library: AssetLibrary
    private let asset: StoredAsset
    private let loader: ResourceLoader
    private let allowsMissingSegments: Bool
    /// The number of the exported part between two discontinuities; `nil` for all parts.
    private let part: Int?
    /// The directories of the exported media playlists; `nil` for all.
    private let folders: Set<String>?
    /// The path of the package.
    private let folder: String

    /// All sources, in the order of the tracks of the file.
    var all: [ExportSource] { timing + subtitles }
    /// The sources that determine the times of the subtitles.
    var timing: [ExportSource] { [variant].compactMap { $0 } + audio }

    /// The sources that determine the times of complete subtitles, if the asset itself is not complete.
    ///
    /// The value is `nil` if the subtitles are not complete, or if their times are unknown.
    ///
    /// Only the first segment of each discontinuity sequence is read from a source. Sources without a stored segment
    /// are left out.
    var timingOfCompleteSubtitles: [ExportSource]? {
        guard subtitles.allSatisfy(\.isStored) else { return nil }
        let stored = timing.filter { $0.omittedSegments.count < $0.reader.playlist.segments.count }
        guard let main = stored.first else { return [] }
        guard main.hasStoredStarts else { return nil }
        return stored.filter(\.hasStoredStarts).map { source in
            // The source has the duration of the entire video, so that no subtitles at the end are cut off.
            ExportSource(
                source.contents,
                reader: source.reader,
                properties: source.properties,
                fileTrack: source.fileTrack
            )
        }
    }

    /// Reads the playlists of an asset, or the index of its media file.
    ///
    /// - Throws: `StorageError` if a playlist is missing or damaged, or if there is no such part; `StreamingError` if the media
    ///   file cannot be read; `CancellationError`.
    static func load(
        _ asset: StoredAsset,
        in library: AssetLibrary,
        part: Int? = nil,
        folders: Set<String>? = nil,
        allowsMissingSegments: Bool
    ) async throws -> ExportSources {
        var sources = try ExportSources(
            asset,
            in: library,
            part: part,
            folders: folders,
            allowsMissingSegments: allowsMissingSegments
        )
        guard let file = try library.mediaFile(of: asset.id) else { return sources }
        let path = library.packageDirectory(asset.id).appendingPathComponent(file.path).path
        let content = try await MediaReader.open(
            ResourceAddress(filePath: path),
            loader: ResourceLoader(FileTransport())
        )
        guard case .file(let reader) = content else { throw damaged(file.path) }
        sources.setTracks(of: reader)
        return sources
    }

    /// Sets the sources to the tracks of a media file: its video with the first audio, and each further track.
    private mutating func setTracks(of reader: MediaReader) {
        let container = reader.fileContainer
        metadata = reader.fileMetadata
        audio = []
        subtitles = []
        let audioTracks = reader.fileTracks.filter { $0.mediaType == .audio }
        var properties = audioTracks.first.map { ExportSource.Properties($0) } ?? ExportSource.Properties()
        properties.isDefault = true
        var first: FileTrack?
        for (position, track) in audioTracks.enumerated() where audioTracks.count > 1 {
            let fileTrack = FileTrack(id: Int(track.id), position: position, in: container)
            if position == 0 {
                first = fileTrack
            } else {
                audio.append(ExportSource(.audio, reader: reader, properties: .init(track), fileTrack: fileTrack))
            }
        }
        variant = ExportSource(.all, reader: reader, properties: properties, fileTrack: first)
        for (position, track) in reader.fileTracks.filter({ $0.mediaType == .subtitles }).enumerated() {
            guard let container, FileSubtitleFormat(track, in: container) != nil else {
                omittedTracks.append(track)
                continue
            }
            let fileTrack = FileTrack(id: Int(track.id), position: position, in: container)
            subtitles.append(ExportSource(.subtitles, reader: reader, properties: .init(track), fileTrack: fileTrack))
        }
    }

    /// The sources with audio, without the video and the subtitles.
    ///
    /// - Throws: `StorageError` if there are none.
    var audioOnly: [ExportSource] {
        get throws {
            let contained = variant.flatMap { $0.contents == .all ? $0.replacingContents(with: .audio) : nil }
            let all = [contained].compactMap { $0 } + audio
            guard !all.isEmpty else {
                throw StorageError(.notFound, "the asset \(asset.id) has no audio; download it again with --audio all")
            }
            return all
        }
    }

    /// The number of parts that discontinuities separate.
    var partCount: Int {
        ((timing + subtitles).first?.reader.playlist.discontinuityRanges.count).map { max(1, $0) } ?? 1
    }

    /// Creates the sources from the playlists of an asset.
    ///
    /// - Throws: `StorageError` if a playlist is missing or damaged, or if there is no such part.
    init(
        _ asset: StoredAsset,
        in library: AssetLibrary,
        part: Int? = nil,
        folders: Set<String>? = nil,
        allowsMissingSegments: Bool
    ) throws {
        self.library = library
        self.asset = asset
        self.part = part
        self.folders = folders
        self.allowsMissingSegments = allowsMissingSegments
        folder = library.packageDirectory(asset.id).standardizedFileURL.path + "/"
        loader = ResourceLoader(PackageTransport(library, id: asset.id, origin: nil))
        guard case .multivariant(let playlist) = try Self.playlist("multivariant.m3u8", in: library, asset.id) else {
            throw Self.damaged("multivariant.m3u8")
        }
        let presentation = Presentation(playlist)
        let best = bestVariant(of: presentation.variants.filter { isExported($0.address) })
        try addAudio(of: presentation.group(.audio)?.options ?? [], best)
        for option in presentation.group(.subtitles)?.options ?? [] {
            guard let address = Self.encoding(of: option, for: best)?.address, isExported(address) else { continue }
            subtitles.append(try source(.subtitles, at: address, ExportSource.Properties(option)))
        }
    }

    private mutating func addAudio(of options: [MediaSelectionOption], _ best: Presentation.Variant?) throws {
        // The audio of the variant itself, if another rendition does not replace it.
        var contained: MediaSelectionOption?
        var isReplaced = false
        for option in options {
            guard let encoding = Self.encoding(of: option, for: best) else { continue }
            if let address = encoding.address, address != best?.address {
                guard isExported(address) else { continue }
                if best?.location.encoding(of: option) != nil { isReplaced = true }
                audio.append(try source(.audio, at: address, ExportSource.Properties(option)))
            } else {
                contained = option
            }
        }
        guard let best, !best.isAudioOnly || contained != nil || !isReplaced else { return }
        let contents: ExportSource.Contents = contained != nil || !isReplaced ? .all : .video
        let properties =
            contained.map { ExportSource.Properties($0) } ?? ExportSource.Properties(isDefault: !isReplaced)
        variant = try source(contents, at: best.address, properties)
    }

    /// Returns a Boolean value that indicates whether a media playlist is exported.
    private func isExported(_ address: ResourceAddress) -> Bool {
        guard let folders, let path = relativePath(address) else { return true }
        return folders.contains { path.hasPrefix("\($0)/") }
    }

    /// Returns the variant with the longest stored duration, then that with the highest resolution and bit rate.
    private func bestVariant(of variants: [Presentation.Variant]) -> Presentation.Variant? {
        func rank(_ variant: Presentation.Variant) -> (Double, Int64, Int64) {
            let stored = asset.renditions.first { variant.address.filePath == "\(folder)\($0.folder)/media.m3u8" }
            return (
                stored?.loadedTimeRanges.totalDuration.seconds.rounded() ?? 0,
                Int64(clamping: variant.resolution?.height ?? 0), variant.peakBitRate?.bitsPerSecond ?? 0
            )
        }
        return variants.max { rank($0) < rank($1) }
    }

    /// Returns the encoding of an option for a variant, or another one if the variant has none.
    private static func encoding(
        of option: MediaSelectionOption,
        for variant: Presentation.Variant?
    ) -> MediaSelectionOption.Encoding? {
        variant?.location.encoding(of: option) ?? option.encodings.first
    }

    private func source(
        _ contents: ExportSource.Contents,
        at address: ResourceAddress,
        _ properties: ExportSource.Properties
    ) throws -> ExportSource {
        guard let path = relativePath(address),
            case .media(let playlist) = try Self.playlist(path, in: library, asset.id)
        else { throw Self.damaged(address.text) }
        var omitted: Set<Int> = []
        if allowsMissingSegments {
            for segment in playlist.segments where !isStored(segment) { omitted.insert(segment.position) }
        }
        if let part { omitted.formUnion(try positions(outside: part, of: playlist)) }
        return ExportSource(
            contents,
            reader: MediaReader(playlist, loader: loader),
            properties: properties,
            omittedSegments: omitted
        )
    }

    /// Returns the positions of the segments that are not in a part.
    ///
    /// The parts are those of the first playlist. A playlist without discontinuities, such as one with a single file of
    /// subtitles, is divided by time.
    private func positions(outside part: Int, of playlist: MediaPlaylist) throws -> [Int] {
        let parts = (variant ?? audio.first)?.reader.playlist.discontinuityRanges ?? playlist.discontinuityRanges
        guard parts.indices.contains(part) else {
            throw StorageError(.notFound, "the asset \(asset.id) has \(parts.count) parts")
        }
        let segments = playlist.segments
        let own = playlist.discontinuityRanges
        if own.count == parts.count { return segments.indices.filter { !own[part].positions.contains($0) } }
        let range = parts[part].timeRange
        return segments.indices.filter {
            segments.timeRange(at: $0).end <= range.start || segments.timeRange(at: $0).start >= range.end
        }
    }

    /// Returns whether a segment, its keys and its initialization section are stored.
    private func isStored(_ segment: MediaSegment) -> Bool {
        let addresses = [segment.address, segment.map?.address].compactMap { $0 } + segment.keys.compactMap(\.address)
        return addresses.allSatisfy { address in
            relativePath(address).map { library.file($0, of: asset.id) != nil } ?? false
        }
    }

    private func relativePath(_ address: ResourceAddress) -> String? {
        guard let path = address.filePath, path.hasPrefix(folder) else { return nil }
        return String(path.dropFirst(folder.count))
    }

    private static func playlist(_ path: String, in library: AssetLibrary, _ id: String) throws -> Playlist {
        let current = try? library.currentPlaylist(path, of: id)
        guard let file = library.file(path, of: id),
            let bytes = current ?? (try? Data(contentsOf: file)).map({ Array($0) }),
            let playlist = try? Playlist.parse(
                bytes,
                context: PlaylistContext(address: ResourceAddress(filePath: file.standardizedFileURL.path))
            )
        else { throw damaged(path) }
        return playlist
    }

    private static func damaged(_ path: String) -> StorageError {
        StorageError(.damaged, "\(path) is missing or damaged; repair the asset first")
    }
}

extension ExportSource {
    /// A Boolean value that indicates whether all segments except gaps are stored.
    fileprivate var isStored: Bool {
        let segments = reader.playlist.segments
        return omittedSegments.allSatisfy { segments[$0].isGap }
    }

    /// A Boolean value that indicates whether the first segment of each discontinuity sequence is stored.
    fileprivate var hasStoredStarts: Bool {
        var known: Set<Int64> = []
        for segment in reader.playlist.segments where !segment.isGap {
            let isFirst = known.insert(segment.discontinuitySequence).inserted
            guard !isFirst || !omittedSegments.contains(segment.position) else { return false }
        }
        return true
    }
}

extension MediaPlaylist {
    /// The segments between two discontinuities.
    struct DiscontinuityRange {
        let positions: Range<Int>
        let timeRange: MediaTimeRange
    }

    /// The segments between discontinuities, in order.
    var discontinuityRanges: [DiscontinuityRange] {
        let starts = segments.indices.filter { $0 == 0 || segments[$0].hasDiscontinuity } + [segments.count]
        return zip(starts, starts.dropFirst()).map { start, end in
            let times = (segments.timeRange(at: start).start, segments.timeRange(at: end - 1).end)
            return DiscontinuityRange(
                positions: start..<end,
                timeRange: MediaTimeRange(start: times.0, end: times.1)
            )
        }
    }
}

extension ExportSource.Properties {
    /// Creates the properties of a track of a media file.
    init(_ track: MediaTrack) {
        self.init(language: track.language.flatMap(Self.languageCode), title: track.name)
        languageTag = track.language
    }

    /// Returns the ISO 639-2 code of a language tag; `nil` if there is none.
    ///
    /// A code of three letters stays the same. The system knows only one of the two codes that ISO 639-2 has for some
    /// languages, such as `fre` and `fra`, and media files have either.
    private static func languageCode(_ tag: String) -> String? {
        let code = tag.prefix { $0 != "-" && $0 != "_" }.lowercased()
        if code.utf8.count == 3, code.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) { return code }
        return Locale.Language(identifier: tag).languageCode?.identifier(.alpha3)
    }

    /// Creates the properties of a media selection option.
    init(_ option: MediaSelectionOption) {
        let describing = [
            MediaCharacteristic.transcribesSpokenDialogForAccessibility, .describesMusicAndSoundForAccessibility,
        ]
        self.init(
            language: option.language.flatMap(Self.languageCode),
            title: option.name.isEmpty ? nil : option.name,
            isDefault: option.isDefault,
            isForced: option.isForced,
            describesSound: option.characteristics.contains { characteristic in
                describing.contains { $0.rawValue == characteristic }
            },
            describesVideo: option.characteristics.contains(
                MediaCharacteristic.describesVideoForAccessibility.rawValue
            )
        )
        languageTag = option.language
    }
}
#endif
