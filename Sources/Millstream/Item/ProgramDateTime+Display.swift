package import HLSPlaylist

extension ProgramDateTime {
    /// The date as a person reads it: ISO 8601 with milliseconds.
    package var displayText: String {
        let text = description
        guard let point = text.firstIndex(of: ".") else { return text }
        let fraction = text[point...].dropFirst().prefix { $0.isNumber }
        return "\(text[...point])\(fraction.prefix(3))\(text[fraction.endIndex...])"
    }
}
