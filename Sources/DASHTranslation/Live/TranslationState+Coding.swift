import MediaTiming

/// A state in the form in which it is stored between two runs of a program.
extension TranslationState: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, targetDuration, discontinuities, tracks, windows, restarts
    }

    /// The version of the form; states of other versions are not read.
    private static let version = 1

    /// Creates a state from its coded form.
    ///
    /// - Throws: `DecodingError` if it has another form or version, or if its parts do not fit together.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard try values.decode(Int.self, forKey: .version) == Self.version else {
            throw DecodingError.dataCorruptedError(forKey: .version, in: values, debugDescription: "unknown version")
        }
        self.init()
        targetDuration = try values.decode(Int64.self, forKey: .targetDuration)
        discontinuities = try values.decode([String: Int64].self, forKey: .discontinuities)
        tracks = try values.decode([TrackDescriptor].self, forKey: .tracks)
        windows = try values.decode([TrackWindow].self, forKey: .windows)
        restarts = try values.decode([Int64].self, forKey: .restarts)
        guard tracks.count == windows.count else {
            throw DecodingError.dataCorruptedError(
                forKey: .windows,
                in: values,
                debugDescription: "there must be a window for each track"
            )
        }
    }

    /// Writes the state.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(targetDuration, forKey: .targetDuration)
        try values.encode(discontinuities, forKey: .discontinuities)
        try values.encode(tracks, forKey: .tracks)
        try values.encode(windows, forKey: .windows)
        try values.encode(restarts, forKey: .restarts)
    }
}

extension TrackDescriptor.Kind: Codable {}

extension TrackWindow: Codable {
    private enum CodingKeys: String, CodingKey {
        case firstSequence, starts, end
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        firstSequence = try values.decode(Int64.self, forKey: .firstSequence)
        var starts = EntryStarts()
        for part in try values.decode([StoredPart].self, forKey: .starts) { starts.append(part.part) }
        self.starts = starts
        end = try values.decode(StoredTime.self, forKey: .end).time
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(firstSequence, forKey: .firstSequence)
        try values.encode(starts.parts.map { StoredPart($0) }, forKey: .starts)
        try values.encode(StoredTime(end), forKey: .end)
    }
}

/// A time as a numerator and a denominator.
private struct StoredTime: Codable {
    let value: Int64
    let timescale: Int64
    var time: MediaTime { MediaTime(value: value, timescale: timescale) }

    init(_ time: MediaTime) {
        value = time.value
        timescale = time.timescale
    }
}

/// The starts of the entries in a period, as integers if they have a common timescale.
private struct StoredPart: Codable {
    let origin: StoredTime
    let rate: Int64?
    let ticks: [Int64]?
    let times: [StoredTime]?

    init(_ part: EntryStarts.Part) {
        origin = StoredTime(part.origin)
        switch part.times {
        case .exact(let exact):
            times = exact.map { StoredTime($0) }
            (ticks, rate) = (nil, nil)
        case .ticks(let list, let unit):
            times = nil
            (ticks, rate) = (list, unit)
        }
    }

    var part: EntryStarts.Part {
        guard let ticks, let rate else {
            return EntryStarts.Part(origin: origin.time, times: .exact(times?.map(\.time) ?? []))
        }
        return EntryStarts.Part(origin: origin.time, times: .ticks(ticks, rate: rate))
    }
}
