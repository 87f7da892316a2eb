import AssetStorage
import Foundation
import MediaTransport
import Millstream
import ReportFormat

#if Playback
import MediaDecoding
#endif

/// The media files to which assets are exported: a template of their paths, whose extension determines the type.
struct MediaFileOutput {
    let template: FileNameTemplate
    private let fileExtension: String
    /// A Boolean value that indicates whether only the audio is written.
    let omitsVideo: Bool
    /// A Boolean value that indicates whether each part between two discontinuities becomes a file.
    var splits = false
    /// A Boolean value that indicates whether files that exist are replaced.
    var replacesFiles = false
    /// The option that selects a Matroska file, for messages.
    var matroskaOption = "--mkv FILE"

    /// The extensions, with the type of the file and whether it has only audio.
    private static let extensions: [String: (type: String, omitsVideo: Bool)] = [
        "mp4": ("mp4", false), "m4v": ("mp4", false), "m4a": ("mp4", true), "mkv": ("mkv", false), "mka": ("mkv", true),
    ]

    /// Returns the type of a file by its extension, `mp4` or `mkv`; `nil` for any other extension.
    static func type(of path: String) -> String? {
        extensions[URL(fileURLWithPath: path).pathExtension.lowercased()]?.type
    }

    /// Creates an output, or returns `nil` if the type is unknown or the template is not valid.
    ///
    /// - Parameters:
    ///   - path: The template.
    ///   - type: The type of the file, `mp4` or `mkv`; `nil` for that of the extension.
    ///   - audioOnly: A Boolean value that indicates whether only the audio is written, whatever the extension is.
    init?(_ path: String, type: String? = nil, audioOnly: Bool = false) {
        let known = Self.extensions[URL(fileURLWithPath: path).pathExtension.lowercased()]
        guard let template = FileNameTemplate(path), let type = type ?? known?.type else { return nil }
        self.template = template
        fileExtension = type
        omitsVideo = audioOnly || known?.omitsVideo ?? false
    }

    /// The form of valid paths, for messages.
    static let form =
        "a path that ends in .mp4, .mkv, .m4a or .mka (audio only), with fields such as \(FileNameTemplate.fields)"

    /// Verifies that the file can be written, if its path is known before the asset is.
    ///
    /// - Parameter title: The title that the user has given the asset; `nil` for none.
    /// - Throws: `StorageError` if there is a file already.
    func verifyIsNew(title: String?) throws {
        if let path = template.path(forTitle: title) { try Self.verifyAbsence(of: path) }
    }

    /// Verifies that the file of an asset can be written, if its path is known before the media is stored.
    ///
    /// - Parameter asset: The asset, whose media playlists are known.
    /// - Throws: `StorageError` if there is a file already.
    func verifyIsNew(of asset: StoredAsset) throws {
        let heights = Set(asset.renditions.filter { $0.role == .variant }.compactMap(\.height))
        // If there are several heights, the height of the file depends on the variant that is downloaded.
        guard !template.contains(.height) || heights.count == 1 else { return }
        let height = heights.first.map { "\($0)" } ?? ""
        try Self.verifyAbsence(of: template.path(for: asset, in: nil, part: nil, height: height))
    }

    private static func verifyAbsence(of path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        throw StorageError(.alreadyExists, "\(path) already exists")
    }

    #if Playback
    /// Returns the note about a track of a media file that is left out.
    static func note(omitting name: String) -> TerminalText {
        "note: \(name) is left out: only subtitles that consist of text can be written"
    }

    /// Returns the note about a cover that is left out; `nil` if none is.
    static func coverNote(_ session: AssetExportSession) throws -> TerminalText? {
        try session.omittedCoverFormat().map { format in
            "note: the cover is left out: only PNG and JPEG images can be written, and it is \(format.contentType)"
        }
    }

    /// Returns the notes about the tracks of a media file and the cover that are left out.
    func notes(on asset: StoredAsset, in library: AssetLibrary) async throws -> [TerminalText] {
        var options = AssetExportSession.Options()
        options.omitsVideo = omitsVideo
        let session = AssetExportSession(library, id: asset.id)
        let tracks = try await session.omittedTracks(options).map { Self.note(omitting: $0) }
        let cover = try Self.coverNote(session)
        return tracks + [cover].compactMap { $0 }
    }

    /// Writes an asset to its files.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - folders: The directories of the media playlists to write, which must be complete; `nil` for all.
    ///   - library: The library of the asset.
    ///   - allowsPartialAsset: A Boolean value that indicates whether missing segments are left out.
    /// - Returns: The absolute paths of the files.
    /// - Throws: The errors of an export.
    func write(
        _ asset: StoredAsset,
        _ folders: Set<String>? = nil,
        in library: AssetLibrary,
        allowsPartialAsset: Bool = false
    ) async throws -> [String] {
        let session = AssetExportSession(library, id: asset.id)
        var options = AssetExportSession.Options(allowsPartialAsset: allowsPartialAsset)
        options.folders = folders
        options.omitsVideo = omitsVideo
        let count = splits ? try session.partCount() : 1
        var paths: [String] = []
        for part in 0..<count {
            options.part = splits ? part : nil
            let height = await self.height(of: asset, session, options)
            let file = URL(fileURLWithPath: path(for: asset, folders, part: splits ? part : nil, height: height))
            let path = file.path
            try Self.makeFolder(of: file)
            // An existing file is replaced when the new file is complete.
            let replaced = try replacesFiles ? ReplacedFile(path) : nil
            let target = replaced?.newPath ?? path
            do {
                try await Interruption.cancelling { [options] in
                    try await session.export(
                        to: target,
                        as: fileExtension == "mp4" ? .mp4 : .matroska,
                        options: options
                    )
                }
                try replaced?.finish()
            } catch let error as MediaDecoding.DecodingError where error.code == .unsupportedInFile {
                throw Failure(.failed, error.code.rawValue, error.message, hint: typeHint)
            }
            paths.append(path)
        }
        return paths
    }

    /// The advice for a codec that files of the type cannot contain; `nil` if no other type can contain it.
    private var typeHint: String? {
        fileExtension == "mp4" ? "write a Matroska file, which can contain it: \(matroskaOption)" : nil
    }

    /// Creates the folder of a file, which a field of the template may name.
    private static func makeFolder(of file: URL) throws {
        let folder = file.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw Failure(
                "the folder \(folder.path) cannot be made (\(FileErrorText.reason(of: error)))",
                writing: error,
                code: "file-failed"
            )
        }
    }

    /// Returns the value of the field `{height}`: the height that the playlists declare, otherwise that of the stored media.
    private func height(
        of asset: StoredAsset,
        _ session: AssetExportSession,
        _ options: AssetExportSession.Options
    ) async -> String {
        guard template.contains(.height) else { return "" }
        if let declared = FileNameTemplate.declaredHeight(of: asset, in: options.folders) { return "\(declared)" }
        // The height is that of the stored variant, even if the export has no video.
        return switch await session.videoHeight(options) {
        case .pixels(let height): "\(height)"
        case .noVideo: "audio"
        case .unknown: "unknown"
        }
    }

    /// Returns the path of a file; the number of a part precedes the extension if the template has no field for it.
    private func path(for asset: StoredAsset, _ folders: Set<String>?, part: Int?, height: String) -> String {
        let path = template.path(for: asset, in: folders, part: part, height: height)
        guard let part, !template.contains(.part) else { return path }
        let url = URL(fileURLWithPath: path)
        guard Self.extensions[url.pathExtension.lowercased()] != nil else { return "\(path)-\(part + 1)" }
        return url.deletingPathExtension().path + "-\(part + 1)." + url.pathExtension
    }
    #else
    func write(
        _ asset: StoredAsset,
        _ folders: Set<String>? = nil,
        in library: AssetLibrary,
        allowsPartialAsset: Bool = false
    ) async throws -> [String] {
        throw Self.unavailable
    }
    #endif

    /// The error of a build without FFmpeg.
    static let unavailable = Failure(
        .failed,
        "no-decoder",
        "this build cannot write media files: it was built without FFmpeg (the trait Playback)"
    )
}
