import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import Millstream
import MillstreamDownloads
import ReportFormat
import StreamingEngine

/// The command `millstream library export`.
struct LibraryExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Copy an asset into a folder that a web server can serve, or into a media file.",
        discussion: """
            A media file contains the best stored variant, and all stored audio and subtitles with their languages and \
            names. If the asset is not complete, but some of its variants are, the file contains the best complete \
            variant, and a folder contains all complete variants and renditions. The folder of an interrupted \
            recording, or of one that another command is still recording, contains everything that is stored so far, \
            as a stream that has ended. Video and audio are copied, not encoded again. In a file, date ranges become \
            chapters. The artwork of the asset becomes the cover if it is a PNG or JPEG image; otherwise a note is \
            printed. A folder contains the artwork as a file, such as cover.jpg. If the media has gaps, for example \
            after an interruption of a recording, a note with their duration is printed. The file or folder must not \
            exist, unless --overwrite replaces the file. Missing parent folders are created. The name of a file can \
            have the fields {title}, {id}, {height}, {date} and {part}.

            Example: millstream library export abc123 /srv/www/film
            Example: millstream library export abc123 --mp4 "{title} ({height}p).mp4"
            """
    )

    @Argument(help: "The identifier of the asset, the URL of its source, or the path of its package.")
    var asset: String
    @Argument(help: "The folder to create, with playlists and segments.") var folder: String?
    @Option(name: .long, help: ArgumentHelp("Write an MP4 file.", valueName: "file")) var mp4: String?
    @Option(name: .long, help: ArgumentHelp("Write a Matroska file.", valueName: "file")) var mkv: String?
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write the subtitles into a new folder, a SubRip file for each subtitle rendition.",
            valueName: "folder"
        )
    )
    var srt: String?
    @Flag(name: .long, help: "Write only the audio; for --mp4 and --mkv.") var audioOnly = false
    @Flag(
        name: .long,
        help: "Write each part between two discontinuities to a separate file. Requires --mp4 or --mkv."
    )
    var split = false
    @Flag(
        name: .long,
        help:
            "Export the stored part of an incomplete asset, and print which parts are missing; for --mp4, --mkv and --srt."
    )
    var partial = false
    @Flag(
        name: .long,
        help: "Replace the file if it exists, when the new one is complete; for --mp4 and --mkv."
    )
    var overwrite = false
    @OptionGroup var library: LibraryFlags
    @OptionGroup var reportFormat: ReportFormatFlags

    func validate() throws {
        guard [folder, mp4, mkv, srt].compactMap({ $0 }).count == 1 else {
            throw ValidationError("give one of: a folder, --mp4, --mkv, --srt")
        }
        let type = folder.map { URL(fileURLWithPath: $0).pathExtension.lowercased() } ?? ""
        guard !Self.mediaExtensions.contains(type) else {
            throw ValidationError(
                "\(folder ?? "") would be a folder with playlists and segments; to write a media file, use --mp4 or --mkv"
            )
        }
        guard !partial || folder == nil else {
            throw ValidationError("--partial requires --mp4, --mkv or --srt")
        }
        guard mp4 != nil || mkv != nil || !audioOnly && !split else {
            throw ValidationError("--audio-only and --split require --mp4 or --mkv")
        }
        guard mp4 != nil || mkv != nil || !overwrite else {
            throw ValidationError("--overwrite requires --mp4 or --mkv: a folder is not replaced")
        }
        if let path = mp4 ?? mkv {
            let ending = URL(fileURLWithPath: path).pathExtension.lowercased()
            guard
                !Self.mediaExtensions.contains(ending) || MediaFileOutput.type(of: path) == (mp4 == nil ? "mkv" : "mp4")
            else { throw ValidationError("\(mp4 == nil ? "--mkv" : "--mp4") cannot write a .\(ending) file: \(path)") }
        }
        _ = try output()
    }

    private static let mediaExtensions: Set<String> = [
        "mp4", "m4v", "m4a", "mov", "mkv", "mka", "webm", "ts", "avi", "mp3", "aac", "srt", "vtt",
    ]

    private func output() throws -> MediaFileOutput? {
        guard let path = mp4 ?? mkv else { return nil }
        guard var output = MediaFileOutput(path, type: mp4 == nil ? "mkv" : "mp4", audioOnly: audioOnly) else {
            throw ValidationError("the fields of a file name are \(FileNameTemplate.fields): \(path)")
        }
        output.splits = split
        output.replacesFiles = overwrite
        return output
    }

    func run() async throws {
        let library = try library.openExisting()
        let id = try library.identifier(of: asset)
        do {
            if let folder {
                let note = try Self.note(onFolderOf: id, in: library)
                try write([library.export(id, to: URL(fileURLWithPath: folder)).path], of: id)
                if let note { StandardError.write("note: \(note)\n") }
                return try noteGaps(of: id, in: library)
            }
            #if Playback
            try await writeMedia(of: try library.asset(id), in: library)
            try noteGaps(of: id, in: library)
            #else
            throw MediaFileOutput.unavailable
            #endif
        } catch let error as StorageError where error.code == .incomplete {
            throw try incomplete(error, try library.asset(id), in: library)
        } catch let error as StorageError where error.code == .alreadyExists && mp4 ?? mkv != nil && !overwrite {
            var failure = Failure(error)
            failure.hint = failure.hint.map { "\($0); --overwrite replaces a file" }
            throw failure
        } catch let error as StorageError where error.code == .damaged {
            throw Self.damaged(Failure(error), id)
        } catch let error as StreamingError where (error.cause as? TransportError)?.code == .fileNotFound {
            throw Self.damaged(Failure(error), id)
        } catch is CancellationError {
            throw Failure(.interrupted, "interrupted", "interrupted; nothing was written")
        }
    }

    private static let interruptedRecording: TerminalText =
        "the recording was interrupted; its stored part is exported"

    /// Returns the note for a folder that contains only a part of an asset; `nil` if the folder contains the entire
    /// asset.
    private static func note(onFolderOf id: String, in library: AssetLibrary) throws -> TerminalText? {
        guard try library.outline(of: id).state == .partial else { return nil }
        if try library.isBeingRecorded(id) {
            return "the asset is still being recorded; the part that is stored so far is exported"
        }
        if try library.isRecording(id) || library.isRecorded(id) && library.playableFolders(of: id).isEmpty {
            return interruptedRecording
        }
        return "the asset is not complete; the variants and renditions that are complete are exported"
    }

    /// Returns the failure for an asset that is not complete, with the figure of `millstream library show`.
    private func incomplete(_ error: StorageError, _ asset: StoredAsset, in library: AssetLibrary) throws -> Failure {
        if try library.isRecorded(asset.id) && library.lostFiles(asset.id).isEmpty {
            return try incompleteRecording(error, asset, in: library)
        }
        guard !partial else {
            var failure = Failure(error)
            failure.hint = "continue its download with: millstream downloads resume, or download it again"
            return failure
        }
        let percent = Int(saturating: UnfinishedAssets(in: library, of: asset.id).percent(of: asset))
        let message = "the asset \(asset.id) is not complete (\(percent) % is stored); download it again first"
        return Failure(.failed, error.code.rawValue, message, hint: partialHint(for: asset))
    }

    /// Returns the failure for a recording that is not complete.
    private func incompleteRecording(
        _ error: StorageError,
        _ asset: StoredAsset,
        in library: AssetLibrary
    ) throws -> Failure {
        guard !partial, let hint = partialHint(for: asset) else { return Failure(error) }
        let message =
            try library.isBeingRecorded(asset.id)
            ? "the asset \(asset.id) is still being recorded"
            : "the recording \(asset.id) was interrupted, and not all of its segments are stored"
        return Failure(.failed, error.code.rawValue, message, hint: hint)
    }

    /// Returns the advice to export the stored part of an asset; `nil` if nothing is stored, or if a folder is
    /// exported.
    private func partialHint(for asset: StoredAsset) -> String? {
        let hasMedia = asset.renditions.contains { rendition in
            rendition.role != .iFrames && (rendition.role == .subtitles) == (srt != nil)
                && !rendition.loadedTimeRanges.ranges.isEmpty
        }
        return folder == nil && hasMedia ? "export what is stored with --partial" : nil
    }

    /// Prints how long the gaps of an asset are, such as those of a recording that was interrupted.
    private func noteGaps(of id: String, in library: AssetLibrary) throws {
        let duration = try library.omittedContent(of: id).gapDuration
        guard duration > .zero else { return }
        let time = QuantityText.preciseClock(duration)
        StandardError.write("note: the asset has gaps of \(time) in all, for which there is no media\n")
    }

    /// Returns the failure for an asset whose stored files are missing or damaged.
    private static func damaged(_ failure: Failure, _ id: String) -> Failure {
        var failure = failure
        failure.hint = "replace the missing and damaged files with: millstream library repair \(id)"
        return failure
    }

    #if Playback
    private func writeMedia(of asset: StoredAsset, in library: AssetLibrary) async throws {
        let session = AssetExportSession(library, id: asset.id)
        var options = AssetExportSession.Options(allowsPartialAsset: partial)
        if let path = srt {
            let folder = URL(fileURLWithPath: path)
            let names = try await Interruption.cancelling { [options] in
                try await session.exportSubtitles(to: folder.path, options: options)
            }
            try write(names.map { folder.appendingPathComponent($0).path }, of: asset.id)
        } else if let output = try output() {
            options.omitsVideo = output.omitsVideo
            let folders = try partial ? nil : Self.completeFolders(of: asset, in: library)
            let paths = try await output.write(asset, folders, in: library, allowsPartialAsset: partial)
            if folders != nil {
                StandardError.write(
                    try library.isRecording(asset.id)
                        ? "note: \(Self.interruptedRecording)\n"
                        : "note: the asset is not complete; the best variant that is complete is exported\n"
                )
            }
            try write(paths, of: asset.id)
        }
        for name in try await session.omittedTracks(options) {
            StandardError.write("\(MediaFileOutput.note(omitting: name))\n")
        }
        if srt == nil, let note = try MediaFileOutput.coverNote(session) { StandardError.write("\(note)\n") }
        guard partial, asset.state != .complete else { return }
        for track in try await session.incompleteTracks(options, omitsMedia: srt != nil) { Self.note(track) }
    }

    /// Returns the directories of the media playlists of an incomplete asset that can be played; `nil` for an asset that is
    /// complete, is being recorded, or has no such variant.
    private static func completeFolders(of asset: StoredAsset, in library: AssetLibrary) throws -> Set<String>? {
        guard asset.state != .complete, asset.isPlayableOffline, !asset.isMediaFile,
            try !library.isBeingRecorded(asset.id)
        else { return nil }
        return try library.playableFolders(of: asset.id)
    }

    /// Prints that an export does not have all of a track.
    private static func note(_ track: AssetExportSession.IncompleteTrack) {
        let (stored, count) = (track.storedSegmentCount, track.segmentCount)
        StandardError.write(
            stored == 0
                ? "note: \(track.name) is left out, because nothing of it is stored\n"
                : "note: \(track.name) is incomplete: \(stored) of \(count) segments are stored\n"
        )
    }
    #endif

    /// Prints the paths of the written files.
    private func write(_ paths: [String], of id: String) throws {
        if reportFormat.isJSON {
            try StandardOutput.writeLine(.fields(["id": .string(id), "files": .strings(paths)]))
        } else {
            for path in paths { try StandardOutput.writeLine(path: path) }
        }
    }
}
