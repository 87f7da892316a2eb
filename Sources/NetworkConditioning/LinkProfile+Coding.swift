import MediaTiming
public import ResourceAddressing

/// An error in a description of network conditions.
public struct LinkProfileError: MillstreamError, Hashable {
    /// The kind of the error.
    public enum Code: String, ErrorCode {
        /// The description of the conditions is invalid.
        case invalid = "bad-conditions"
    }

    /// The kind of the error.
    public var code: Code { .invalid }
    /// The description of the error.
    public var message: String { description }
    /// The problem and its location in the description, for display.
    public let description: String
}

/// The JSON form of a link profile.
///
/// A profile is an object with `name`, `down` and `up` (each with `bandwidth` in bits per second, `latency` in seconds
/// and `loss` from 0 to 1), `dnsDelay` in seconds, `outages` (`[{"start","duration","interval"}]`, in seconds) and
/// `trace`. A trace is an array of periods (`[{"duration_ms","bandwidth_kbps","latency_ms"}]`), which is also accepted
/// in place of the object.
extension LinkProfile: Codable {
    private enum Key: String, CodingKey, CaseIterable { case name, down, up, dnsDelay, outages, trace }

    /// Creates a profile from an object, or from an array that is a trace.
    ///
    /// - Throws: ``LinkProfileError`` for values out of range and unknown keys, and the errors of the decoder.
    public init(from decoder: any Decoder) throws {
        if let list = try? decoder.unkeyedContainer(), list.count != nil {
            self.init(name: "trace", trace: try LinkTrace(from: decoder))
            return
        }
        try NamedKey.rejectUnknown(in: decoder, known: Key.allCases.map(\.rawValue))
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            name: try container.decodeIfPresent(String.self, forKey: .name) ?? "conditions",
            down: try container.decodeIfPresent(DirectionConditions.self, forKey: .down) ?? DirectionConditions(),
            up: try container.decodeIfPresent(DirectionConditions.self, forKey: .up) ?? DirectionConditions(),
            dnsDelay: try Quantity.seconds(container.decodeIfPresent(Double.self, forKey: .dnsDelay), "dnsDelay")
                ?? .zero,
            trace: try container.decodeIfPresent(LinkTrace.self, forKey: .trace),
            outages: try container.decodeIfPresent([Outage].self, forKey: .outages) ?? []
        )
        let given = try container.allKeys.filter { try !container.decodeNil(forKey: $0) }
        guard given.contains(where: { $0 != .name }) else {
            throw LinkProfileError(
                description: "the profile must have at least one of down, up, dnsDelay, outages and trace"
            )
        }
    }

    /// Encodes the profile as an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(down, forKey: .down)
        try container.encode(up, forKey: .up)
        try container.encode(dnsDelay / .seconds(1), forKey: .dnsDelay)
        if !outages.isEmpty { try container.encode(outages, forKey: .outages) }
        if let trace { try container.encode(trace, forKey: .trace) }
    }
}

extension LinkProfile.DirectionConditions: Codable {
    private enum Key: String, CodingKey, CaseIterable { case bandwidth, latency, loss }

    /// Creates the conditions of one direction from their coded form.
    ///
    /// - Throws: ``LinkProfileError`` for values out of range and unknown keys, and the errors of the decoder.
    public init(from decoder: any Decoder) throws {
        try NamedKey.rejectUnknown(in: decoder, known: Key.allCases.map(\.rawValue))
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            bandwidth: try Quantity.bitRate(container.decodeIfPresent(Double.self, forKey: .bandwidth), "bandwidth"),
            latency: try Quantity.seconds(container.decodeIfPresent(Double.self, forKey: .latency), "latency") ?? .zero,
            loss: try container.decodeIfPresent(Double.self, forKey: .loss) ?? 0
        )
        guard (0...1).contains(loss) else {
            throw LinkProfileError(description: "loss must be between 0 and 1, not \(loss)")
        }
    }

    /// Encodes the conditions of one direction.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(bandwidth?.bitsPerSecond, forKey: .bandwidth)
        try container.encode(latency / .seconds(1), forKey: .latency)
        try container.encode(loss, forKey: .loss)
    }
}

extension LinkProfile.Outage: Codable {
    private enum Key: String, CodingKey, CaseIterable { case start, duration, interval }

    /// Creates an outage from its coded form.
    ///
    /// - Throws: ``LinkProfileError`` for values out of range, unknown keys, and an interval that is not longer than
    ///   the duration; the errors of the decoder.
    public init(from decoder: any Decoder) throws {
        try NamedKey.rejectUnknown(in: decoder, known: Key.allCases.map(\.rawValue))
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            start: try Quantity.seconds(container.decode(Double.self, forKey: .start), "start", maximum: 1e9) ?? .zero,
            duration: try Quantity.seconds(container.decode(Double.self, forKey: .duration), "duration", maximum: 1e9)
                ?? .zero,
            interval: try Quantity.seconds(
                container.decodeIfPresent(Double.self, forKey: .interval),
                "interval",
                maximum: 1e9
            )
        )
        if let interval, interval <= duration {
            throw LinkProfileError(description: "the interval of an outage must be longer than its duration")
        }
    }

    /// Encodes the outage.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(start / .seconds(1), forKey: .start)
        try container.encode(duration / .seconds(1), forKey: .duration)
        try container.encodeIfPresent(interval.map { $0 / .seconds(1) }, forKey: .interval)
    }
}

extension LinkTrace: Codable {
    /// Creates a trace from an array of periods.
    ///
    /// - Throws: ``LinkProfileError`` for an empty array or more than a million periods, and the errors of the decoder.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var periods: [Period] = []
        while !container.isAtEnd {
            periods.append(try container.decode(Period.self))
            guard periods.count <= 1_000_000 else {
                throw LinkProfileError(description: "a trace must have at most a million periods")
            }
        }
        guard let trace = LinkTrace(periods) else {
            throw LinkProfileError(description: "a trace must have at least one period")
        }
        self = trace
    }

    /// Encodes the trace as an array of periods.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for period in periods { try container.encode(period) }
    }
}

extension LinkTrace.Period: Codable {
    private enum Key: String, CodingKey {
        case duration = "duration_ms"
        case bandwidth = "bandwidth_kbps"
        case latency = "latency_ms"
    }

    /// Creates a period of a trace from its coded form.
    ///
    /// - Throws: ``LinkProfileError`` for values out of range, and the errors of the decoder.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        // A trace has many periods, so errors name the one that is wrong.
        func check(_ value: Double, _ key: Key, maximum: Double) throws -> Double {
            guard (0...maximum).contains(value) else {
                throw LinkProfileError(
                    description: "\(key.rawValue) must be between 0 and \(Int64(saturating: maximum)), not \(value)"
                        + NamedKey.position(of: decoder)
                )
            }
            return value
        }
        func milliseconds(_ value: Double) -> Duration {
            .nanoseconds(Int64(saturating: (value / 1_000 * 1e9).rounded()))
        }
        let length = try check(container.decode(Double.self, forKey: .duration), .duration, maximum: 1e9)
        let rate = try check(container.decode(Double.self, forKey: .bandwidth), .bandwidth, maximum: 1e9)
        let delay = try check(container.decodeIfPresent(Double.self, forKey: .latency) ?? 0, .latency, maximum: 60_000)
        self.init(
            duration: milliseconds(length),
            bandwidth: BitRate(bitsPerSecond: Int64(saturating: (rate * 1_000).rounded())),
            latency: milliseconds(delay)
        )
        guard duration.saturatingNanoseconds > 0 else {
            throw LinkProfileError(
                description: "the duration_ms of a period must be greater than 0\(NamedKey.position(of: decoder))"
            )
        }
    }

    /// Encodes the period.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(duration / .milliseconds(1), forKey: .duration)
        try container.encode(Double(bandwidth.bitsPerSecond) / 1_000, forKey: .bandwidth)
        try container.encode(latency / .milliseconds(1), forKey: .latency)
    }
}

/// Conversions of decoded numbers, with their ranges.
private enum Quantity {
    static func seconds(_ value: Double?, _ name: String, maximum: Double = 60) throws(LinkProfileError) -> Duration? {
        guard let value else { return nil }
        guard value >= 0, value <= maximum else {
            throw LinkProfileError(
                description: "\(name) must be between 0 and \(Int64(saturating: maximum)) s, not \(value)"
            )
        }
        return .nanoseconds(Int64(saturating: (value * 1e9).rounded()))
    }

    static func bitRate(_ value: Double?, _ name: String) throws(LinkProfileError) -> BitRate? {
        guard let value else { return nil }
        guard value >= 0, value <= 1e12 else {
            throw LinkProfileError(description: "\(name) must be between 0 and 1 Tbit/s, not \(value)")
        }
        return BitRate(bitsPerSecond: Int64(saturating: value.rounded()))
    }
}

/// A coding key with any name, to reject misspelled keys, which would otherwise be ignored.
private struct NamedKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }

    static func rejectUnknown(in decoder: any Decoder, known: [String]) throws {
        for key in try decoder.container(keyedBy: NamedKey.self).allKeys where !known.contains(key.stringValue) {
            throw LinkProfileError(
                description: "unknown key \(key.stringValue.prefix(40))\(position(of: decoder)); "
                    + "the keys are \(known.joined(separator: ", "))"
            )
        }
    }

    /// Returns the position of the value that a decoder decodes, such as ` in trace, entry 3`; empty for the whole value.
    static func position(of decoder: any Decoder) -> String {
        let position = decoder.codingPath.map { $0.intValue.map { "entry \($0)" } ?? $0.stringValue }
        return position.isEmpty ? "" : " in \(position.joined(separator: ", "))"
    }
}
