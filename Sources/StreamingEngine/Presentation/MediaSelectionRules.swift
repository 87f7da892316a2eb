import HLSPlaylist
import MediaTiming

/// Which options are played when nobody has chosen (RFC 8216bis §4.4.6.1, DEFAULT, AUTOSELECT and FORCED).
///
/// What the viewer has said goes before what the playlist calls its default: that is for those who have said nothing.
public struct MediaSelectionRules: Sendable, Hashable {
    /// When text is shown.
    public enum SubtitleMode: Sendable, Hashable {
        /// Where the playlist calls it the default, or in ``MediaSelectionRules/subtitleLanguages``.
        case automatic
        /// Wherever there is any in a language that the viewer or the sound speaks.
        case always
        /// Only what must be shown to follow the film.
        case forcedOnly
    }

    /// The languages that sound is wanted in, best first, as RFC 4647 ranges: `en-GB`, `ko`.
    ///
    /// Defaults to none.
    public var audioLanguages: [String]
    /// The languages that text is wanted in, best first.
    ///
    /// Defaults to none.
    public var subtitleLanguages: [String]
    /// Characteristics that are wanted, such as `public.accessibility.describes-video`.
    ///
    /// Defaults to none.
    public var characteristics: Set<String>
    /// Whether the languages were named for this very item, so that options count too that may not be taken unasked
    /// (`AUTOSELECT=NO`, RFC 8216bis §4.4.6.1).
    ///
    /// Defaults to `false`: they are what a viewer speaks.
    public var areLanguagesAskedFor = false
    /// When text is shown.
    ///
    /// Defaults to ``SubtitleMode/automatic``.
    public var subtitleMode: SubtitleMode

    /// Makes rules.
    public init(
        audioLanguages: [String] = [],
        subtitleLanguages: [String] = [],
        characteristics: Set<String> = [],
        subtitleMode: SubtitleMode = .automatic
    ) {
        self.audioLanguages = audioLanguages
        self.subtitleLanguages = subtitleLanguages
        self.characteristics = characteristics
        self.subtitleMode = subtitleMode
    }

    /// The selection for a presentation.
    public func selection(for presentation: Presentation) -> MediaSelection {
        var selection = MediaSelection()
        if let group = presentation.group(.video) { selection[.video] = option(in: group) }
        if let group = presentation.group(.audio) { selection[.audio] = option(in: group) }
        if let group = presentation.group(.subtitles) {
            selection[.subtitles] = subtitles(in: group, audio: selection[.audio])
        }
        if let group = presentation.group(.closedCaptions), selection[.subtitles]?.isForced ?? true {
            selection[.closedCaptions] = text(in: group, audio: selection[.audio])
        }
        return selection
    }

    /// The option of a group for sound or pictures, of which something has to be played.
    ///
    /// In this order: what the viewer's languages and characteristics ask for, of what may be taken unasked before the
    /// rest; what the playlist calls the default; what may be taken unasked; the first.
    ///
    /// - Returns: `nil` only for a group without options.
    public func option(in group: MediaSelectionGroup) -> MediaSelectionOption? {
        best(of: group.options.filter(\.isAutoselect), languages: audioLanguages)
            ?? named(in: group.options, audioLanguages)
            ?? group.defaultOption ?? group.options.first(where: \.isAutoselect) ?? group.options.first
    }

    /// The subtitles to show; `nil` for none.
    ///
    /// Where no others are wanted, forced ones in the language of the sound are shown: they translate what the film
    /// itself does not.
    ///
    /// - Parameters:
    ///   - group: The subtitles that there are.
    ///   - audio: The sound that is played; `nil` where the variant carries it.
    /// - Returns: The option, possibly a forced one.
    public func subtitles(in group: MediaSelectionGroup, audio: MediaSelectionOption?) -> MediaSelectionOption? {
        if let shown = text(in: group, audio: audio) { return shown }
        let languages = audio?.language.map { [$0] } ?? audioLanguages
        return closest(group.options.filter(\.isForced), to: languages)
    }

    private func text(in group: MediaSelectionGroup, audio: MediaSelectionOption?) -> MediaSelectionOption? {
        let options = group.options.filter { !$0.isForced }
        let candidates = options.filter(\.isAutoselect)
        switch subtitleMode {
        case .forcedOnly: return nil
        case .automatic:
            return best(of: candidates, languages: subtitleLanguages) ?? named(in: options, subtitleLanguages)
                ?? options.first(where: \.isDefault)
        case .always:
            let languages = subtitleLanguages + (audio?.language.map { [$0] } ?? []) + audioLanguages
            return best(of: candidates, languages: subtitleLanguages) ?? named(in: options, subtitleLanguages)
                ?? best(of: candidates, languages: languages) ?? options.first(where: \.isDefault)
                ?? candidates.first ?? closest(options, to: languages)
        }
    }

    /// What languages name though it may not be taken unasked, where that is what they are for.
    private func named(in options: [MediaSelectionOption], _ languages: [String]) -> MediaSelectionOption? {
        areLanguagesAskedFor && !languages.isEmpty ? best(of: options, languages: languages) : nil
    }

    /// How well an option fits; lower is better, compared from left to right.
    private struct Rank {
        let language: Int
        let missing: Int
        let unasked: Int
        let plain: Int

        static func < (left: Rank, right: Rank) -> Bool {
            (left.language, left.missing, left.unasked, left.plain)
                < (right.language, right.missing, right.unasked, right.plain)
        }
    }

    /// The option that fits languages and characteristics best; `nil` where nothing was asked for, or nothing fits.
    private func best(of options: [MediaSelectionOption], languages: [String]) -> MediaSelectionOption? {
        var found: (option: MediaSelectionOption, rank: Rank)?
        for option in options {
            guard let rank = rank(of: option, languages: languages) else { continue }
            if let best = found, !(rank < best.rank) { continue }
            found = (option, rank)
        }
        return found?.option
    }

    private func rank(of option: MediaSelectionOption, languages: [String]) -> Rank? {
        let held = characteristics.intersection(option.characteristics).count
        if languages.isEmpty, held == 0 { return nil }
        let language = languages.isEmpty ? 0 : Self.distance(from: languages, to: option.language)
        guard let language else { return nil }
        return Rank(
            language: language,
            missing: characteristics.count - held,
            unasked: option.characteristics.count - held,
            plain: option.isDefault ? 0 : 1
        )
    }

    private func closest(_ options: [MediaSelectionOption], to languages: [String]) -> MediaSelectionOption? {
        let distances = options.map { Self.distance(from: languages, to: $0.language) }
        guard let least = distances.compactMap(\.self).min() else { return nil }
        return zip(options, distances).first { $1 == least }?.0
    }

    /// The first language that fits counts, and then how well.
    private static func distance(from languages: [String], to tag: String?) -> Int? {
        guard let tag else { return nil }
        for (position, language) in languages.enumerated() {
            if let distance = LanguageMatching.distance(from: language, to: tag) { return position *| 64 + distance }
        }
        return nil
    }
}
