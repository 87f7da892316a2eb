import MediaTiming
import Testing

@Suite struct CalendarDayTests {
    @Test(arguments: [
        ("1970-01-01", 0), ("1969-12-31", -1), ("1970-02-28", 58), ("1970-03-01", 59), ("1972-02-29", 789),
        ("2000-02-29", 11_016), ("2000-03-01", 11_017), ("2100-03-01", 47_541), ("0000-03-01", -719_468),
        ("0000-02-29", -719_469), ("0000-01-01", -719_528), ("9999-12-31", 2_932_896), ("10000-01-01", 2_932_897),
    ])
    func daysAreCountedFrom1970(text: String, days: Int) throws {
        let numbers = text.split(separator: "-").compactMap { Int($0) }
        try #require(numbers.count == 3)
        let day = CalendarDay(year: numbers[0], month: numbers[1], day: numbers[2])
        #expect(day.daysSince1970 == days)
        #expect(CalendarDay(daysSince1970: days) == day)
        #expect(day.description == text)
        #expect(day.exists)
    }

    /// The calendar repeats after 400 years, here on both sides of the year 0.
    @Test func eachDayFollowsThePreviousOne() {
        var lengths: [[Int]] = []
        var previous = CalendarDay(daysSince1970: -800_000)
        for days in -799_999 ... -650_000 {
            let day = CalendarDay(daysSince1970: days)
            if day.month != previous.month { lengths.append([previous.year, previous.month, previous.day]) }
            let isNextMonth = day.day == 1 && day.month == previous.month % 12 + 1
            let isNextDay = day.day == previous.day + 1 && day.month == previous.month
            guard isNextDay || isNextMonth, day.daysSince1970 == days else {
                Issue.record("\(day) follows \(previous)")
                return
            }
            previous = day
        }
        for length in lengths.dropFirst() {
            let (year, month) = (length[0], length[1])
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let expected = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
            #expect(length[2] == expected, "\(length)")
        }
    }

    @Test(arguments: [(2024, 2, 30), (2023, 2, 29), (2100, 2, 29), (2024, 4, 31), (2024, 1, 0), (2024, 1, 32)])
    func daysOfOtherMonthsDoNotExist(year: Int, month: Int, day: Int) {
        #expect(!CalendarDay(year: year, month: month, day: day).exists)
    }
}
