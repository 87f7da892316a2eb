import HLSPlaylist
import MediaTiming
package import SegmentFormat

extension MediaSelectionGroup {
    /// Returns the groups of a media file: its audio tracks if there are several, and its subtitle tracks whose format
    /// can be shown.
    ///
    /// - Parameters:
    ///   - tracks: The tracks of the file.
    ///   - container: The container format of the file.
    /// - Returns: The groups in the order of their types.
    package static func groups(of tracks: [MediaTrack], in container: MediaContainer) -> [MediaSelectionGroup] {
        let audio = options(of: tracks.filter { $0.mediaType == .audio }, .audio, in: container) { _ in true }
        let subtitles = options(of: tracks.filter { $0.mediaType == .subtitles }, .subtitles, in: container) { track in
            FileSubtitleFormat(track, in: container) != nil
        }
        var groups: [MediaSelectionGroup] = []
        if audio.count > 1 { groups.append(MediaSelectionGroup(type: .audio, options: audio)) }
        if !subtitles.isEmpty { groups.append(MediaSelectionGroup(type: .subtitles, options: subtitles)) }
        return groups
    }

    /// Returns the options of the tracks of one media type.
    private static func options(
        of tracks: [MediaTrack],
        _ type: Rendition.MediaType,
        in container: MediaContainer,
        where isOffered: (MediaTrack) -> Bool
    ) -> [MediaSelectionOption] {
        var counts: [TrackLabel: Int] = [:]
        for track in tracks { counts[TrackLabel(track), default: 0] += 1 }
        var options: [MediaSelectionOption] = []
        for (position, track) in tracks.enumerated() where isOffered(track) {
            let title = title(of: track)
            // The language and the name are part of the identity of an option.
            let isUnique = !title.isEmpty && counts[TrackLabel(track)] == 1 && !isNumbered(title)
            let number = "track \(position + 1)"
            options.append(
                MediaSelectionOption(
                    FileTrack(id: Int(clamping: track.id), position: position, in: container),
                    type: type,
                    name: isUnique ? title : title.isEmpty ? number : "\(title) (\(number))",
                    language: track.language,
                    // Subtitles are shown only if they are selected.
                    isDefault: type == .audio && options.isEmpty
                )
            )
        }
        return options
    }

    /// Returns a Boolean value that indicates whether a title has the form of the names that tracks get by their
    /// position.
    private static func isNumbered(_ title: String) -> Bool {
        let title = title.lowercased()
        return title.hasPrefix("track ") || title.contains("(track ")
    }

    /// The language and the name of a track, by which users select it without regard to case.
    private struct TrackLabel: Hashable {
        private let language: String?
        private let title: String

        init(_ track: MediaTrack) {
            language = track.language?.lowercased()
            title = MediaSelectionGroup.title(of: track).lowercased()
        }
    }

    /// Returns the name of a track, or its language if it has none; empty without both.
    private static func title(of track: MediaTrack) -> String { track.name ?? track.language ?? "" }
}
