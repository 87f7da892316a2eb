import AssetStorage
import Foundation
import SegmentFormat

extension AssetLibrary {
    /// The maximum size of an initialization section that is read to describe media, in bytes; those with real tracks have a few
    /// kilobytes.
    private static let maximumInitializationSize: Int64 = 4 << 20
    /// The number of bytes of a segment in which its tracks are searched, 256 KiB.
    private static let segmentHeadSize = 256 << 10

    /// Stores the resolution and the languages of a source without variants, which only its media declares, for listings.
    ///
    /// - Parameter id: The identifier of the asset. Nothing happens if the asset has variants, if no media is stored yet, or if
    ///   the media does not describe its tracks.
    /// - Throws: ``StorageError``.
    func describeMedia(of id: String) throws {
        guard let media = try undescribedMedia(of: id), let bytes = firstBytes(of: media.resource, id) else { return }
        let isInitialization = media.resource.kind == .initialization
        let tracks = MediaTrack.tracks(
            ofSegment: isInitialization ? [] : bytes,
            initialization: isInitialization ? bytes : nil
        )
        guard !tracks.isEmpty else { return }
        let video = tracks.first { track in
            guard let width = track.presentationWidth, let height = track.presentationHeight else { return false }
            return track.mediaType == .video && width > 0 && height > 0
        }
        let description = MediaDescription(
            width: video?.presentationWidth,
            height: video?.presentationHeight,
            audioLanguages: DownloadResolver.languages(of: .audio, in: tracks),
            subtitleLanguages: DownloadResolver.languages(of: .subtitles, in: tracks)
        )
        try describe(description, of: media)
    }

    /// Returns the first bytes of a stored file, all of an initialization section; `nil` if it cannot be read, or if an
    /// initialization section is too large.
    private func firstBytes(of resource: StoredResource, _ id: String) -> [UInt8]? {
        guard let path = file(resource.path, of: id)?.path, let size = FileInspection.size(path),
            let handle = FileHandle(forReadingAtPath: path)
        else { return nil }
        defer { try? handle.close() }
        guard resource.kind == .initialization else {
            return (try? handle.read(upToCount: Self.segmentHeadSize)).map { Array($0) }
        }
        guard size <= Self.maximumInitializationSize else { return nil }
        return (try? handle.read(upToCount: Int(clamping: size))).map { Array($0) }
    }
}
