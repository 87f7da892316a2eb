import HLSPlaylist
public import StreamingEngine

/// What media is like, in the words of AVFoundation and of playlists.
public struct MediaCharacteristic: RawRepresentable, Sendable, Hashable {
    /// As the `CHARACTERISTICS` attribute spells it (RFC 8216bis §4.4.6.1).
    public let rawValue: String

    /// Makes a characteristic.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It can be heard.
    public static let audible = MediaCharacteristic(rawValue: "public.audible")
    /// It can be read.
    public static let legible = MediaCharacteristic(rawValue: "public.legible")
    /// It can be seen.
    public static let visual = MediaCharacteristic(rawValue: "public.visual")
    /// It is shown only where it has to be.
    public static let containsOnlyForcedSubtitles = MediaCharacteristic(
        rawValue: "public.subtitles.forced-only"
    )
    /// It writes what is spoken.
    public static let transcribesSpokenDialogForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.transcribes-spoken-dialog"
    )
    /// It describes what is heard besides.
    public static let describesMusicAndSoundForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.describes-music-and-sound"
    )
    /// It describes what is seen.
    public static let describesVideoForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.describes-video"
    )
    /// It was made easy to read.
    public static let easyToRead = MediaCharacteristic(rawValue: "public.easy-to-read")
    /// It makes speech easier to understand.
    public static let enhancesSpeechIntelligibility = MediaCharacteristic(
        rawValue: "public.accessibility.enhances-speech-intelligibility"
    )
    /// A machine made it.
    public static let machineGenerated = MediaCharacteristic(rawValue: "public.machine-generated")

    /// The types of renditions that are like this, those that are asked for first in front.
    var renditionTypes: [Rendition.MediaType] {
        switch self {
        case .audible: [.audio]
        case .legible: [.subtitles, .closedCaptions]
        case .visual: [.video]
        default: []
        }
    }
}

extension MediaSelectionOption {
    /// Whether it is like this.
    public func has(_ characteristic: MediaCharacteristic) -> Bool {
        if characteristic == .containsOnlyForcedSubtitles { return isForced }
        return characteristic.renditionTypes.contains(type) || characteristics.contains(characteristic.rawValue)
    }
}

extension Presentation {
    /// The first group that is like this.
    func group(for characteristic: MediaCharacteristic) -> MediaSelectionGroup? {
        characteristic.renditionTypes.lazy.compactMap { group($0) }.first
    }
}

extension Asset {
    /// The choices that are audible, legible or visual; `nil` where there are none, or nothing was loaded.
    ///
    /// Where there are subtitles and captions inside the video, those are the former;
    /// ``AssetProperty/mediaSelectionGroups`` has both.
    public func mediaSelectionGroup(for characteristic: MediaCharacteristic) -> MediaSelectionGroup? {
        let groups = loadedValue(.mediaSelectionGroups) ?? []
        return characteristic.renditionTypes.lazy.compactMap { type in groups.first { $0.type == type } }.first
    }

    /// Loads the choices that are audible, legible or visual.
    ///
    /// - Parameter characteristic: What they are like.
    /// - Returns: The group; `nil` where there is none.
    /// - Throws: ``PlayerError``; `CancellationError` where the caller was cancelled.
    public func loadMediaSelectionGroup(
        for characteristic: MediaCharacteristic
    ) async throws -> MediaSelectionGroup? {
        _ = try await load(.mediaSelectionGroups)
        return mediaSelectionGroup(for: characteristic)
    }

    /// What is played when nobody chooses; a selection of nothing before it was loaded.
    public var preferredMediaSelection: MediaSelection { loadedValue(.preferredMediaSelection) ?? MediaSelection() }
}
