import MediaTiming
import StreamingEngine

extension AudioSamples {
    /// The same as loud as a mix says.
    ///
    /// Between the turning points of a mix the volume is a straight line, so that it is asked for at those alone.
    func mixed(by mix: AudioMix) -> AudioSamples {
        guard !mix.isEmpty, frameCount > 0 else { return self }
        let range = MediaTimeRange(start: time, duration: duration)
        let borders = [time] + mix.turningPoints(in: range) + [end]
        var samples = samples
        var first = 0
        for (start, border) in zip(borders, borders.dropFirst()) {
            let last = min(
                frameCount,
                max(first, Int(saturating: ((border - time).seconds * Double(sampleRate)).rounded()))
            )
            guard last > first else { continue }
            // A volume that is set at the border itself begins behind this stretch.
            let middle = MediaTime(approximating: (start.seconds + border.seconds) / 2) ?? start
            let (atStart, inMiddle) = (mix.volume(at: start), mix.volume(at: middle))
            let atEnd = 2 * inMiddle - atStart
            if atStart != 1 || atEnd != 1 {
                let step = (atEnd - atStart) / Double(last - first)
                for frame in first..<last {
                    let gain = Float(atStart + step * Double(frame - first))
                    for index in frame * channelCount..<(frame + 1) * channelCount { samples[index] *= gain }
                }
            }
            first = last
        }
        return AudioSamples(time: time, sampleRate: sampleRate, channelCount: channelCount, samples: samples)
    }
}
