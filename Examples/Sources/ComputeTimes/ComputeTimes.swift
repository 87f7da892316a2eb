import MediaTiming

// The code of the landing page of MediaTiming.

if let duration = MediaTime(decimal: "9.97667") {
    print(duration * 3)  // 29.93001, exactly
    print(duration > MediaTime(value: 299, timescale: 30))  // true: 9.966…
}

var buffered = MediaTimeRangeSet()
buffered.insert(MediaTimeRange(start: .zero, end: MediaTime(seconds: 6)))
buffered.insert(MediaTimeRange(start: MediaTime(seconds: 6), end: MediaTime(seconds: 12)))
buffered.remove(MediaTimeRange(start: MediaTime(seconds: 8), duration: MediaTime(seconds: 1)))
print(buffered.ranges, buffered.totalDuration)  // 0 to 8 and 9 to 12: 11 seconds

precondition(buffered.totalDuration == MediaTime(seconds: 11) && buffered.ranges.count == 2)
