import MediaTiming
import ReportFormat

extension PlaybackMetrics {
    /// The indicators as a JSON object on one line, in a fixed order; `null` for what cannot be said.
    ///
    /// Durations are seconds, rates bits a second.
    public var json: String {
        ReportValue.fields([
            "startupTime": .orUnknown(startupTime.map(ReportValue.seconds)),
            "watchedDuration": .seconds(watchedDuration),
            "stallCount": .integer(stallCount),
            "stallDuration": .seconds(stallDuration),
            "stallsPerHour": .orUnknown(stallsPerHour.map(ReportValue.real)),
            "stallRatio": .orUnknown(stallRatio.map(ReportValue.real)),
            "timeWeightedBitrate": .orUnknown(timeWeightedBitrate.map(ReportValue.bitRate)),
            "timeWeightedBitrateOfAll": .orUnknown(timeWeightedBitrateOfAll.map(ReportValue.bitRate)),
            "variantSwitches": .integer(variantSwitches),
            "oscillations": .integer(oscillations),
            "droppedFrames": .orUnknown(droppedFrames.map(ReportValue.integer)),
            "decodedFrames": .orUnknown(decodedFrames.map(ReportValue.integer)),
            "discardedFrames": .orUnknown(discardedFrames.map(ReportValue.integer)),
            "bytes": .integer(bytes.bytes),
            "mediaRequests": .integer(mediaRequests),
            "errors": .integer(errors),
        ]).json
    }

    /// The indicators as lines for a console, two digits behind the point; those that cannot be said are left out.
    ///
    /// In the words of `PerfMeasurements`, which scripts look for. The rate is ``timeWeightedBitrate``.
    public var lines: [String] {
        var lines: [String] = []
        if let timeWeightedBitrate {
            let megabits = Double(timeWeightedBitrate.bitsPerSecond) / 1e6
            lines.append("Time-weighted Indicated Bitrate: \(megabits.hundredths)Mbps")
        }
        if let stallsPerHour { lines.append("Stall rate: \(stallsPerHour.hundredths) stalls/hour") }
        if let stallRatio { lines.append("Stall wait ratio: \(stallRatio.hundredths)") }
        return lines
    }
}

extension Double {
    /// The number with two digits behind the point, as `%.2f` writes it, for numbers of 0 or more.
    var hundredths: String {
        guard self >= 0, self < 9e15 else { return self >= 9e15 ? String(self) : "0.00" }
        let whole = Int64(saturating: self)
        let fraction = self - Double(whole)
        let product = fraction * 100
        var parts = Int64(saturating: product.rounded(.toNearestOrEven))
        // The product is rounded already: where it seems to lie in the middle, what it lost decides.
        let lost = (-product).addingProduct(fraction, 100)
        if product - product.rounded(.down) == 0.5, lost != 0 {
            parts = Int64(saturating: product.rounded(lost > 0 ? .up : .down))
        }
        return parts == 100 ? "\(whole +| 1).00" : "\(whole).\(parts < 10 ? "0" : "")\(parts)"
    }
}
