import HLSPlaylist
import MediaTiming

/// The rules for the automatic selection of media options (RFC 8216bis §4.4.6.1, DEFAULT, AUTOSELECT and FORCED).
///
/// Preferences of the viewer have priority over the default of the playlist, which is intended for viewers without
/// preferences.
public struct MediaSelectionRules: Sendable, Hashable {
    /// The condition under which subtitles are shown.
    public enum SubtitleMode: Sendable, Hashable {
        /// Subtitles are shown if they are the default, or in a language of ``MediaSelectionRules/subtitleLanguages``.
        case automatic
        /// Subtitles are shown whenever there are any, preferably in a language of the viewer or of the audio.
        case always
        /// Only forced subtitles are shown.
        case forcedOnly
    }

    /// The preferred audio languages in descending order, as language ranges of RFC 4647 such as `en-GB` or `ko`.
    ///
    /// An entry may also be the name of an option, such as `Commentary`, or a language and a name, such as
    /// `en:Commentary`. Names are compared as a whole, without regard to case.
    ///
    /// Default: empty.
    public var audioLanguages: [String]
    /// The preferred subtitle languages in descending order, in the form of ``audioLanguages``.
    ///
    /// Default: empty.
    public var subtitleLanguages: [String]
    /// The preferred characteristics, such as `public.accessibility.describes-video`.
    ///
    /// Default: empty.
    public var characteristics: Set<String>
    /// A Boolean value that indicates whether the languages were chosen for this item.
    ///
    /// If so, options with `AUTOSELECT=NO` are also considered.
    ///
    /// Default: `false`, for languages that are a general preference of the viewer (RFC 8216bis §4.4.6.1).
    public var isLanguageChoiceExplicit = false
    /// The condition under which subtitles are shown.
    ///
    /// Default: ``SubtitleMode/automatic``.
    public var subtitleMode: SubtitleMode

    /// Creates rules.
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

    /// Returns the automatic selection for a presentation.
    package func selection(for presentation: Presentation) -> MediaSelection {
        var selection = MediaSelection()
        if let group = presentation.group(.video) { selection[.video] = option(in: group) }
        if let group = presentation.group(.audio) { selection[.audio] = option(in: group) }
        if let group = presentation.group(.subtitles) {
            selection[.subtitles] = subtitles(in: group, audio: selection[.audio])
        }
        if let group = presentation.group(.closedCaptions), selection[.subtitles]?.isForced ?? true {
            selection[.closedCaptions] = subtitleOption(in: group, audio: selection[.audio])
        }
        return selection
    }

    /// Returns the option of an audio or video group, for which an option is always selected.
    ///
    /// The order of priority is: the best match of the preferred languages and characteristics, first among options
    /// with `AUTOSELECT=YES`; the default of the playlist; the first option with `AUTOSELECT=YES`; the first option.
    ///
    /// - Returns: The option, or `nil` for a group without options.
    public func option(in group: MediaSelectionGroup) -> MediaSelectionOption? {
        best(of: group.options.filter(\.isAutoselect), languages: audioLanguages)
            ?? explicitMatch(in: group.options, languages: audioLanguages)
            ?? group.defaultOption ?? group.options.first(where: \.isAutoselect) ?? group.options.first
    }

    /// Returns the subtitles to show, or `nil` for none.
    ///
    /// If no other subtitles are selected, forced subtitles in the language of the audio are.
    ///
    /// - Parameters:
    ///   - group: The available subtitles.
    ///   - audio: The selected audio option, or `nil` if audio is muxed into the variant.
    /// - Returns: The option, possibly with forced subtitles.
    public func subtitles(in group: MediaSelectionGroup, audio: MediaSelectionOption?) -> MediaSelectionOption? {
        if let shown = subtitleOption(in: group, audio: audio) { return shown }
        let languages = audio?.language.map { [$0] } ?? audioLanguages
        return closest(group.options.filter(\.isForced), to: languages)
    }

    private func subtitleOption(in group: MediaSelectionGroup, audio: MediaSelectionOption?) -> MediaSelectionOption? {
        let options = group.options.filter { !$0.isForced || isRequestedByName($0) }
        let candidates = options.filter(\.isAutoselect)
        switch subtitleMode {
        case .forcedOnly: return nil
        case .automatic:
            return best(of: candidates, languages: subtitleLanguages) ?? explicitMatch(
                in: options,
                languages: subtitleLanguages
            )
                ?? options.first(where: \.isDefault)
        case .always:
            let languages = subtitleLanguages + (audio?.language.map { [$0] } ?? []) + audioLanguages
            return best(of: candidates, languages: subtitleLanguages) ?? explicitMatch(
                in: options,
                languages: subtitleLanguages
            )
                ?? best(of: candidates, languages: languages) ?? options.first(where: \.isDefault)
                ?? candidates.first ?? closest(options, to: languages)
        }
    }

    /// Returns a Boolean value that indicates whether subtitles were chosen by their name, or by their language and
    /// name.
    private func isRequestedByName(_ option: MediaSelectionOption) -> Bool {
        guard isLanguageChoiceExplicit else { return false }
        return subtitleLanguages.contains { text in
            if RenditionMatching.isName(text, option.name) { return true }
            // Without a colon, the text may be the language alone.
            return text.contains(":")
                && RenditionMatching.distance(from: text, toLanguage: option.language, name: option.name) != nil
        }
    }

    /// Returns the best match including options with `AUTOSELECT=NO`, if the languages were chosen for this item.
    private func explicitMatch(in options: [MediaSelectionOption], languages: [String]) -> MediaSelectionOption? {
        isLanguageChoiceExplicit && !languages.isEmpty ? best(of: options, languages: languages) : nil
    }

    /// The rank of an option; lower is better, and the properties are compared in their order.
    private struct Rank {
        let language: Int
        let missing: Int
        let unrequestedCharacteristics: Int
        let nonDefault: Int

        static func < (left: Rank, right: Rank) -> Bool {
            (left.language, left.missing, left.unrequestedCharacteristics, left.nonDefault)
                < (right.language, right.missing, right.unrequestedCharacteristics, right.nonDefault)
        }
    }

    /// Returns the best match of languages and characteristics, or `nil` if there are no preferences or no match.
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
        let language = languages.isEmpty ? 0 : Self.distance(from: languages, to: option)
        guard let language else { return nil }
        return Rank(
            language: language,
            missing: characteristics.count - held,
            unrequestedCharacteristics: option.characteristics.count - held,
            nonDefault: option.isDefault ? 0 : 1
        )
    }

    private func closest(_ options: [MediaSelectionOption], to languages: [String]) -> MediaSelectionOption? {
        let distances = options.map { Self.distance(from: languages, to: $0) }
        guard let least = distances.compactMap(\.self).min() else { return nil }
        return zip(options, distances).first { $1 == least }?.0
    }

    /// Returns the distance of an option, determined by the first matching language or name and then by the closeness of
    /// the match.
    private static func distance(from languages: [String], to option: MediaSelectionOption) -> Int? {
        for (position, text) in languages.enumerated() {
            let distance = RenditionMatching.distance(from: text, toLanguage: option.language, name: option.name)
            if let distance { return position *| 64 + distance }
        }
        return nil
    }
}
