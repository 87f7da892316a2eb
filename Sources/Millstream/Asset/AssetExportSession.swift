#if Playback
package import AssetStorage
import Foundation
import HLSPlaylist
public import MediaDecoding
import MediaTransport
import NIOCore
import ResourceAddressing
import SegmentFormat
import StreamingEngine

/// An export of a downloaded asset to a media file (`AVAssetExportSession`).
///
/// Video and audio are copied without decoding and encoding. The file contains the best stored variant and all stored
/// audio and subtitle renditions, with their languages, names and default flags. Date ranges of the playlist become
/// chapters, and the artwork of the asset becomes the cover if it is a PNG or JPEG image. The artist and the album of a
/// stored media file are those of the exported one. Exporting reads the stored files only, never the network.
public struct AssetExportSession: Sendable {
    /// The options of an export.
    public struct Options: Sendable, Hashable {
        /// A Boolean value that indicates whether the stored part of an incomplete asset is exported; `false` by
        /// default.
        ///
        /// The file then begins with the first stored segment of the video, and has no media where segments are missing.
        public var allowsPartialAsset: Bool
        /// A Boolean value that indicates whether only the audio is exported; `false` by default.
        public var omitsVideo = false
        /// The number of the part between two discontinuities to export, beginning with 0; `nil` for all parts.
        public var part: Int?
        /// The directories of the media playlists to export, which must be complete; `nil` for all of the asset.
        package var folders: Set<String>?

        /// Creates options.
        public init(allowsPartialAsset: Bool = false) {
            self.allowsPartialAsset = allowsPartialAsset
        }
    }

    /// The type of an exported file.
    public typealias FileType = MediaFileType

    private let library: AssetLibrary
    private let id: String

    /// Creates an export of a downloaded asset.
    ///
    /// - Parameter filePath: The absolute path of the package, as `millstream library path` prints it.
    /// - Throws: `StorageError` with the code `not-found` if the path is not that of a downloaded asset.
    public init(filePath: String) throws {
        guard let package = PackageTransport.package(at: URL(fileURLWithPath: filePath)) else {
            throw StorageError(.notFound, "\(filePath) is not a downloaded asset")
        }
        self.init(package.library, id: package.id)
    }

    /// Creates an export of an asset of a library.
    package init(_ library: AssetLibrary, id: String) {
        self.library = library
        self.id = id
    }

    /// Writes the asset to a media file.
    ///
    /// The file is written under a temporary name and renamed when it is complete. After an error or a cancellation, nothing
    /// is left behind; what a process that was killed has left behind is removed by the next export to the same path.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file, which must not exist.
    ///   - type: The type of the file.
    ///   - options: The options of the export.
    /// - Throws: `StorageError` if the asset is incomplete or damaged, or if the file exists; `DecodingError` if the
    ///   media cannot be read, or cannot be written to a file of this type; `StreamingError` if a segment is missing or
    ///   cannot be decrypted; `CancellationError`.
    public func export(to path: String, as type: FileType, options: Options = Options()) async throws {
        try Self.requireAbsence(of: path)
        let asset = try storedAsset(options)
        let sources = try await ExportSources.load(
            asset,
            in: library,
            part: options.part,
            folders: options.folders,
            allowsMissingSegments: asset.state != .complete && options.folders == nil
        )
        let exported = options.omitsVideo ? try sources.audioOnly : sources.all
        try verifyHasMedia(exported.filter { $0.contents != .subtitles }, of: asset, part: options.part)
        UnfinishedExports.removeAbandoned(of: path)
        try await MediaExporter().export(
            exported,
            title: asset.title,
            metadata: sources.metadata,
            cover: cover(),
            to: path,
            as: type
        )
    }

    /// Returns the artwork of the asset as the cover of a media file; `nil` if it has none, or one in a format that is not
    /// usual in such files.
    private func cover() throws -> CoverImage? {
        guard let artwork = try library.artwork(of: id) else { return nil }
        switch artwork.format {
        case .png: return CoverImage([UInt8](artwork.data), format: .png)
        case .jpeg: return CoverImage([UInt8](artwork.data), format: .jpeg)
        case .gif, .webP: return nil
        }
    }

    /// Returns the format of the artwork that a media file does not have as its cover, because it is not usual in such files.
    ///
    /// - Returns: The format; `nil` if the asset has no artwork, or artwork that is the cover.
    /// - Throws: `StorageError` if there is no such asset.
    package func omittedCoverFormat() throws -> AssetArtwork.Format? {
        guard let format = try library.asset(id).artworkFormat else { return nil }
        switch format {
        case .png, .jpeg: return nil
        case .gif, .webP: return format
        }
    }

    /// Returns the number of parts that discontinuities separate.
    ///
    /// - Throws: `StorageError` if the asset is damaged.
    public func partCount() throws -> Int {
        let asset = try library.asset(id)
        return try ExportSources(asset, in: library, allowsMissingSegments: asset.state != .complete).partCount
    }

    /// The height of the video of an export.
    package enum VideoHeight: Sendable, Hashable {
        /// The height as the video is shown, in pixels.
        case pixels(Int)
        /// The export has no video.
        case noVideo
        /// The height cannot be read, for example because nothing of the video is stored.
        case unknown
    }

    /// Returns the height of the video that is exported, as its first segment or the index of a media file has it.
    ///
    /// - Parameter options: The options of the export.
    /// - Returns: The height.
    package func videoHeight(_ options: Options) async -> VideoHeight {
        guard let asset = try? storedAsset(options),
            let sources = try? await ExportSources.load(
                asset,
                in: library,
                part: options.part,
                folders: options.folders,
                allowsMissingSegments: asset.state != .complete && options.folders == nil
            )
        else { return .unknown }
        guard let variant = sources.variant, variant.contents != .audio else { return .noVideo }
        let reader = variant.reader
        var probe = MediaProbe()
        guard let position = (0..<reader.count).first(where: { !variant.omittedSegments.contains($0) }),
            let segment = try? await reader.segment(at: position), let contents = try? probe.read(segment)
        else { return .unknown }
        let tracks = MediaTrack.combining(listed: reader.fileTracks, measured: contents.tracks.map(\.format))
        guard let video = tracks.first(where: { $0.mediaType == .video }) else {
            return tracks.isEmpty ? .unknown : .noVideo
        }
        return video.presentationHeight.map { .pixels($0) } ?? .unknown
    }

    /// Writes each subtitle rendition to a SubRip file, with times relative to the start of the video.
    ///
    /// The files are named after their languages, such as `en.srt`, with a number if there are several.
    ///
    /// An asset that is not complete needs ``Options/allowsPartialAsset`` in two cases only: the subtitles are not
    /// complete, or their times are unknown because a part of the video is stored without its first segment.
    ///
    /// - Parameters:
    ///   - folder: The absolute path of the directory to create, which must not exist.
    ///   - options: The options of the export.
    /// - Returns: The names of the files, in the order of the renditions.
    /// - Throws: The same errors as ``export(to:as:options:)``; `StorageError` with the code `not-found` if the asset
    ///   has no subtitles.
    public func exportSubtitles(to folder: String, options: Options = Options()) async throws -> [String] {
        try Self.requireAbsence(of: folder)
        let asset = try assetWithSubtitles(options)
        let sources = try await ExportSources.load(
            asset,
            in: library,
            allowsMissingSegments: asset.state != .complete
        )
        guard !sources.subtitles.isEmpty else {
            let isFile = try library.mediaFile(of: id) != nil
            let reason =
                !isFile
                ? "no subtitles; download it again with --subtitles all"
                : sources.omittedTracks.isEmpty
                    ? "no subtitles: the media file has none" : "no subtitles that can be written as text"
            throw StorageError(.notFound, "the asset \(id) has \(reason)")
        }
        try verifyHasMedia(sources.subtitles, of: asset)
        let timing = try timing(of: sources, asset, options)
        let names = Self.subtitlesNames(sources.subtitles.map(\.properties))
        UnfinishedExports.removeAbandoned(of: folder)
        let output = PartialFolder(folder)
        do {
            try output.create()
            // The text of one rendition is in memory at a time.
            try await MediaExporter().forEachSubtitles(of: timing + sources.subtitles) { number, cues in
                try output.write(SubRipWriter.document(cues), to: names[number])
            }
            try output.finish()
        } catch {
            output.remove()
            throw error
        }
        return names
    }

    /// Returns the names of the files of subtitle renditions.
    private static func subtitlesNames(_ renditions: [ExportSource.Properties]) -> [String] {
        var names: [String] = []
        for properties in renditions {
            let tag = (properties.languageTag ?? "und").filter {
                $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
            }
            let base = (tag.isEmpty ? "und" : String(tag.prefix(64))) + (properties.isForced ? ".forced" : "")
            var name = "\(base).srt"
            var number = 2
            while names.contains(name) {
                name = "\(base).\(number).srt"
                number += 1
            }
            names.append(name)
        }
        return names
    }

    /// A track with segments that are missing from an export of an incomplete asset.
    package struct IncompleteTrack: Sendable, Hashable {
        /// The media type and the language, such as `audio en`.
        package let name: String
        /// The number of segments that are stored; 0 for a track that is left out.
        package let storedSegmentCount: Int
        /// The number of segments of the track.
        package let segmentCount: Int

        fileprivate init(_ source: ExportSource) {
            let type =
                switch source.contents {
                case .all: "video and audio"
                case .video: "video"
                case .audio: "audio"
                case .subtitles: "subtitles"
                }
            name = [type, source.properties.languageTag].compactMap { $0 }.joined(separator: " ")
            segmentCount = source.reader.playlist.segments.count
            storedSegmentCount = segmentCount - source.omittedSegments.count
        }
    }

    /// Returns the tracks with segments that are missing from an export of an incomplete asset.
    ///
    /// - Parameters:
    ///   - options: The options of the export.
    ///   - omitsMedia: A Boolean value that indicates whether only subtitles are exported.
    /// - Returns: The tracks, in the order of the export; none for a complete asset.
    /// - Throws: The same errors as ``export(to:as:options:)``.
    package func incompleteTracks(_ options: Options, omitsMedia: Bool = false) async throws -> [IncompleteTrack] {
        let asset = try storedAsset(options)
        guard asset.state != .complete, options.folders == nil else { return [] }
        let sources = try await ExportSources.load(asset, in: library, allowsMissingSegments: true)
        var exported = omitsMedia ? sources.subtitles : sources.all
        if !omitsMedia, options.omitsVideo { exported = try sources.audioOnly }
        return exported.filter { !$0.omittedSegments.isEmpty }.map { IncompleteTrack($0) }
    }

    /// Returns descriptions of the subtitles that an export leaves out because they do not consist of text, such as
    /// `subtitles en (S_HDMV/PGS)`.
    ///
    /// - Parameter options: The options of the export.
    /// - Returns: The descriptions of tracks of a media file, or of those in the segments of the video of a stream.
    /// - Throws: The same errors as ``export(to:as:options:)``.
    package func omittedTracks(_ options: Options) async throws -> [String] {
        guard !options.omitsVideo else { return [] }
        let asset = try library.asset(id)
        let isFile = try library.mediaFile(of: id) != nil
        let allowsMissing = isFile || asset.state != .complete
        let sources: ExportSources
        do {
            sources = try await ExportSources.load(asset, in: library, allowsMissingSegments: allowsMissing)
        } catch  where !isFile {
            // The media is exported already, possibly without the renditions that cannot be read.
            return []
        }
        let tracks = isFile ? sources.omittedTracks : await Self.imageSubtitles(in: sources.variant)
        return tracks.map { track in
            let format = "(\(track.codec ?? "unknown format"))"
            return ["subtitles", track.language, format].compactMap { $0 }.joined(separator: " ")
        }
    }

    /// Returns the subtitles that the first stored segment of a variant declares beside the video and the audio, such as those of
    /// DVB in a transport stream, and that do not consist of text.
    private static func imageSubtitles(in variant: ExportSource?) async -> [MediaTrack] {
        guard let variant else { return [] }
        let segments = variant.reader.playlist.segments
        let first = segments.first { !$0.isGap && !variant.omittedSegments.contains($0.position) }
        // The media is exported already, so that a segment that cannot be read is no error here.
        guard let position = first?.position, let segment = try? await variant.reader.segment(at: position),
            case .media(let bytes, let initialization) = segment.content
        else { return [] }
        return MediaTrack.tracks(ofSegment: bytes.readableBytesView, initialization: initialization?.bytes).filter {
            track in
            track.mediaType == .subtitles && !FileSubtitleFormat.isSupported(codec: track.codec ?? "")
        }
    }

    /// Returns the asset if its subtitles can be exported.
    ///
    /// That is the case if the asset or its subtitles are complete, or if the options allow a partial asset.
    private func assetWithSubtitles(_ options: Options) throws -> StoredAsset {
        let asset = try library.asset(id)
        let subtitles = asset.renditions.filter { $0.role == .subtitles }
        // While a recording continues, its subtitles are not complete, because more can follow.
        let areComplete = try !subtitles.isEmpty && subtitles.allSatisfy(\.isComplete) && !library.isBeingRecorded(id)
        return areComplete ? asset : try storedAsset(options)
    }

    /// Returns the sources that determine the times of the subtitles of an asset.
    ///
    /// - Parameters:
    ///   - sources: All sources of the asset.
    ///   - asset: The asset.
    ///   - options: The options of the export.
    /// - Returns: The sources.
    /// - Throws: `StorageError` if the times are not known, and a partial asset is not allowed.
    private func timing(of sources: ExportSources, _ asset: StoredAsset, _ options: Options) throws -> [ExportSource] {
        if asset.state == .complete { return sources.timing }
        if let timing = sources.timingOfCompleteSubtitles { return timing }
        guard options.allowsPartialAsset else { throw Self.incomplete(id) }
        return sources.timing
    }

    /// Returns the error for an asset that is not complete.
    private static func incomplete(_ id: String) -> StorageError {
        StorageError(.incomplete, "the asset \(id) is not complete; download it again first")
    }

    private func storedAsset(_ options: Options) throws -> StoredAsset {
        let asset = try library.asset(id)
        let isComplete = asset.renditions.allSatisfy { rendition in
            rendition.isComplete || !(options.folders?.contains(rendition.folder) ?? true)
        }
        // Nothing of a media file can be read before all of it is stored.
        let isAllowed = options.allowsPartialAsset && !asset.isMediaFile
        guard asset.state == .complete || isComplete && options.folders != nil || isAllowed else {
            throw Self.incomplete(id)
        }
        return asset
    }

    /// Verifies that a segment of an incomplete asset is stored, before the file is created.
    private func verifyHasMedia(_ sources: [ExportSource], of asset: StoredAsset, part: Int? = nil) throws {
        let isEmpty = sources.allSatisfy { $0.omittedSegments.count >= $0.reader.playlist.segments.count }
        guard asset.state == .complete || !isEmpty else {
            let exported = part.map { "part \($0 + 1) of the asset \(id)" } ?? "the asset \(id)"
            throw StorageError(
                .incomplete,
                "nothing of \(exported) can be exported yet, because no segment of it is stored completely"
            )
        }
    }

    private static func requireAbsence(of path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw StorageError(.alreadyExists, "\(path) already exists")
        }
    }
}

/// A directory of exported files that is written under a temporary name and renamed when it is complete.
private struct PartialFolder: Sendable {
    private let folder: URL
    private let partial: URL

    /// Creates the description of a directory with an absolute path.
    init(_ path: String) {
        folder = URL(fileURLWithPath: path)
        partial = folder.deletingLastPathComponent()
            .appendingPathComponent(".\(folder.lastPathComponent).\(ProcessInfo.processInfo.processIdentifier)")
    }

    func create() throws {
        try converting { try FileManager.default.createDirectory(at: partial, withIntermediateDirectories: true) }
    }

    func write(_ text: String, to name: String) throws {
        try converting { try Data(text.utf8).write(to: partial.appendingPathComponent(name)) }
    }

    /// Gives the directory its name.
    func finish() throws { try converting { try FileManager.default.moveItem(at: partial, to: folder) } }

    /// Removes the directory, which is not complete.
    func remove() { try? FileManager.default.removeItem(at: partial) }

    private func converting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw StorageError(writing: folder.path, error)
        }
    }
}
#endif
